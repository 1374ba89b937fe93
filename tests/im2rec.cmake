imrec_test(test_classic command)
imrec_test(test_operands command)
imrec_test(test_stale_parts im2rec)
imrec_test(test_old_set reshape LABEL property)
imrec_test(test_finished reshape LABEL property)
imrec_test(test_pack_journal im2rec)
imrec_test(test_pack_plan tasks LABEL fault)
imrec_test(test_pack_archives tasks reshape LABEL fault)
imrec_test(test_plan_items tasks)
imrec_test(test_plan_items_faults tasks LABEL fault)
imrec_test(test_pack_budget im2rec)
imrec_test(test_pack_inputs im2rec)
imrec_test(test_pack_images im2rec SOURCES support/images.c)
imrec_test(test_pack_items im2rec iter dataset)
imrec_test(test_pack_labels im2rec iter dataset)
imrec_test(test_python_random im2rec)
imrec_test(test_pack_augment im2rec)
imrec_test(test_boxes im2rec)
imrec_test(test_tally im2rec)
imrec_test(test_skip_report im2rec)
imrec_test(test_pack_property im2rec LABEL property)
imrec_test(test_pack_empty reshape iter LABEL property)
imrec_test(test_words iter im2rec dataset SOURCES support/images.c LABEL property)
imrec_test(test_pack_vectors im2rec LABEL conformance)
imrec_test(test_reshape_masks reshape)
imrec_test(test_identities reshape iter)
imrec_test(test_reshape_faults reshape LABEL fault)
imrec_test(test_pack_lock reshape LABEL fault)
imrec_test(test_pack_stop reshape LABEL fault)
imrec_test(test_im2rec_faults im2rec LABEL fault)
imrec_test(test_pack_items_faults im2rec LABEL fault)
imrec_test(test_pack_fields tasks iter dataset)
imrec_test(test_pack_masks im2rec iter SOURCES support/images.c LABEL property)
imrec_test(test_pack_cbf im2rec LABEL property)
imrec_test(test_pack_cbf_fields tasks reshape dataset minibatch LABEL property)
if(IMREC_HAVE_CURL)
  imrec_test(test_pack_stores im2rec LABEL fault)
  target_link_libraries(test_pack_stores PRIVATE imrec_http_proxy)
endif()

imrec_fuzz(coco im2rec)
imrec_fuzz(report im2rec)
imrec_fuzz(plan tasks)

target_compile_definitions(test_pack_lock PRIVATE IM2REC="$<TARGET_FILE:im2rec>")
add_dependencies(test_pack_lock im2rec)

# The Job of examples/kubernetes/, decoded and run; with the Job controller of Kubernetes in tests/long.
if(IMREC_HAVE_CURL AND NOT IMREC_SANITIZE)
  set(kubernetes ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/kubernetes/run.sh $<TARGET_FILE:im2rec> ${CMAKE_CURRENT_BINARY_DIR}/photos)
  add_test(NAME kubernetes COMMAND ${kubernetes})
  add_test(NAME kubernetes_controller COMMAND ${kubernetes} controller)
  set_tests_properties(kubernetes kubernetes_controller PROPERTIES LABELS "servers;im2rec" TIMEOUT 1800 SKIP_RETURN_CODE 77
                       FIXTURES_REQUIRED photos ENVIRONMENT "${IMREC_TEST_ENV}")
  set_tests_properties(kubernetes_controller PROPERTIES LABELS "servers;im2rec;long")
endif()

# The program itself, killed, short of memory, fed with its own outputs.
if(Python3_FOUND)
  add_test(NAME kill_and_resume COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/im2rec/kill_pack.py
           $<TARGET_FILE:im2rec> ${CMAKE_CURRENT_BINARY_DIR}/photos 30)
  add_test(NAME chains_of_copies COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/im2rec/chains.py
           $<TARGET_FILE:im2rec> $<TARGET_FILE:imrec_tool>)
  add_test(NAME kill_export COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/im2rec/kill_export.py
           $<TARGET_FILE:im2rec> $<TARGET_FILE:imrec_tool>)
  add_test(NAME kill_plan COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/im2rec/kill_plan.py
           $<TARGET_FILE:im2rec> ${CMAKE_CURRENT_BINARY_DIR}/photos 15)
  set_tests_properties(kill_and_resume kill_plan PROPERTIES TIMEOUT 600 FIXTURES_REQUIRED photos)
  set_tests_properties(chains_of_copies kill_export PROPERTIES TIMEOUT 900)
  set(programs kill_and_resume kill_plan chains_of_copies kill_export)
  add_test(NAME plan_equal COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/im2rec/plan_equal.py
           ${PROJECT_BINARY_DIR})
  set_tests_properties(plan_equal PROPERTIES TIMEOUT 900 LABELS "property;im2rec" ENVIRONMENT "${IMREC_TEST_ENV}")
  if(TARGET im2rec-mpi)
    add_test(NAME mpi_ranks COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/im2rec/mpi_ranks.py
             $<TARGET_FILE:im2rec> ${MPIEXEC_EXECUTABLE} ${CMAKE_CURRENT_BINARY_DIR}/photos)
    set_tests_properties(mpi_ranks PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77 FIXTURES_REQUIRED photos)
    list(APPEND programs mpi_ranks)
    # With MPICH in a build of its own, and both MPIs and no MPI on a Slurm cluster of this machine.
    set(mpich ${PROJECT_BINARY_DIR}/mpich)
    set(with_mpich ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/im2rec/with_mpich.sh ${PROJECT_SOURCE_DIR} ${mpich})
    add_test(NAME mpich COMMAND ${with_mpich} ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/im2rec/mpi_ranks.py
             ${mpich}/im2rec/im2rec mpiexec.mpich ${CMAKE_CURRENT_BINARY_DIR}/photos)
    add_test(NAME slurm COMMAND ${with_mpich} ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/im2rec/slurm_jobs.py
             ${PROJECT_SOURCE_DIR} $<TARGET_FILE:im2rec> ${mpich}/im2rec/im2rec ${CMAKE_CURRENT_BINARY_DIR}/photos)
    set_tests_properties(mpich slurm PROPERTIES LABELS "fault;im2rec;long" TIMEOUT 3600 SKIP_RETURN_CODE 77 RESOURCE_LOCK mpich
                         FIXTURES_REQUIRED photos ENVIRONMENT "${IMREC_TEST_ENV}")
  endif()
  if(NOT IMREC_SANITIZE) # which takes memory of its own
    add_test(NAME pack_memory COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/im2rec/pack_memory.py
             $<TARGET_FILE:im2rec>)
    set_tests_properties(pack_memory PROPERTIES TIMEOUT 600)
    list(APPEND programs pack_memory)
  endif()
  set_tests_properties(${programs} PROPERTIES LABELS "fault;im2rec" ENVIRONMENT "${IMREC_TEST_ENV}")
endif()
