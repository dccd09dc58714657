/* Asks the daemon about a directory, twice, and prints what it says: a number and why there is no answer. */
#include "expect.h"

#ifndef _WIN32
#include <signal.h>
#include <sys/time.h>
static void tick(int signal) { (void)signal; }
#endif

int main(int argc, char **argv) {
  EXPECT(argc > 1);
  upcheck_question question;
  memset(&question, 0, sizeof question);
  question.struct_size = sizeof question;
  question.directory = str(argv[1]);
  upcheck_str targets[8];
  for (int at = 2; at < argc && at < 10; at++) targets[at - 2] = str(argv[at]);
  question.targets = targets;
  question.n_targets = (size_t)(argc - 2);
#ifndef _WIN32
  /* A daemon that hangs is one, whatever comes meanwhile. */
  struct sigaction on_tick;
  memset(&on_tick, 0, sizeof on_tick);
  on_tick.sa_handler = tick;
  on_tick.sa_flags = SA_RESTART;
  struct itimerval often = {{0, 20000}, {0, 20000}};
  EXPECT(sigaction(SIGALRM, &on_tick, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
#endif
  int32_t first = 0;
  for (int round = 0; round < 2; round++) {
    upcheck_answer *answer = NULL;
    /* The same by its name. */
    if (round == 1) question.manifest = str("build.ninja");
    OK(upcheck_ask_daemon(&question, &answer, &error));
    int32_t verdict = upcheck_answer_verdict(answer);
    EXPECT((*upcheck_answer_why(answer) == '\0') == (verdict != UPCHECK_ANSWER_NONE));
    if (round == 0) printf("%d %s\n", (int)verdict, upcheck_answer_why(answer));
    EXPECT(round == 0 || verdict == first);
    first = verdict;
    upcheck_answer_free(answer);
  }

  upcheck_answer *none = NULL;
  question.flags = 1;
  FAILS(upcheck_ask_daemon(&question, &none, &error), UPCHECK_E_INVALID, "flags");
  question.flags = 0;
  question.version = 9;
  FAILS(upcheck_ask_daemon(&question, &none, &error), UPCHECK_E_INVALID, "1.9");
  question.version = 13;
  upcheck_str bad[] = {str("--help"), str(""), {"a\0b", 3}};
  question.n_targets = 1;
  for (int at = 0; at < 3; at++) {
    question.targets = &bad[at];
    FAILS(upcheck_ask_daemon(&question, &none, &error), UPCHECK_E_INVALID, "name");
  }
  question.targets = NULL, question.n_targets = 0;
  question.manifest = bad[2];
  FAILS(upcheck_ask_daemon(&question, &none, &error), UPCHECK_E_INVALID, "NUL");
  EXPECT(none == NULL && upcheck_answer_verdict(NULL) == UPCHECK_ANSWER_NONE && *upcheck_answer_why(NULL) == '\0');
  return 0;
}
