imrec_test(test_plan plan SOURCES unit/test_plan.c)
imrec_test(test_schedule plan SOURCES unit/test_schedule.c)
