/* strata-peak-memory COMMAND…: runs a command with its output dropped and prints the most memory that it had resident,
 * in KiB. A small process of its own, since Linux counts what the process that starts a command had resident as the
 * command's. Ends with the command's status. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2)
    return 127;
  pid_t child = fork();
  if (child < 0)
    return 127;
  if (child == 0) {
    int nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0)
      dup2(nothing, STDOUT_FILENO);
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) != child)
    return 127;
  printf("%ld\n", usage.ru_maxrss);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}
