imrec_test(test_walk load LABEL property)
imrec_test(test_split_vectors load dataset LABEL conformance)
imrec_test(test_metadata load dataset)
imrec_test(test_opening load dataset)
imrec_test(test_dataset load)

imrec_fuzz(shard load dataset)
imrec_fuzz(cbf_images load dataset)
