imrec_test(test_classic command SOURCES unit/test_classic.c)
imrec_test(test_pack_journal im2rec SOURCES unit/test_pack_journal.c)
imrec_test(test_pack_budget im2rec SOURCES unit/test_pack_budget.c)
imrec_test(test_pack_inputs im2rec SOURCES unit/test_pack_inputs.c)
