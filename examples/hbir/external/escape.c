// How many steps z -> z * z + c takes to leave the circle of radius 2; `most` for points that stay.
int escape(float re, float im, int most) {
  float x = 0, y = 0;
  for (int step = 0; step < most; ++step) {
    float square = x * x - y * y + re;
    y = 2 * x * y + im;
    x = square;
    if (x * x + y * y > 4)
      return step;
  }
  return most;
}
