// A program that is linked with everything that strata is linked with, and does nothing: what starting costs in any
// case.
int main() {
  return 0;
}
