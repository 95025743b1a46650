static _Thread_local int depth_of_recursion;

int main(int argc, char** argv) {
  (void)argv;
  depth_of_recursion += argc;
  return depth_of_recursion;
}
