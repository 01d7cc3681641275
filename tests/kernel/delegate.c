/* Marks a control group as systemd marks one whose groups others may make. */
#include <sys/xattr.h>

int main(int argc, char** argv) {
  return argc != 2 || setxattr(argv[1], "user.delegate", "1", 1, 0) != 0;
}
