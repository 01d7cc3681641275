# what:  the library is built by tools that run under the library, twice; the same files come out
# needs: g++ cmake ninja
# tier:  long
# get:   apt install g++ cmake ninja-build
# proof: cmake ninja cc1plus
# limit: 900

mkdir tree
cp -r "$PROJECT_ROOT/CMakeLists.txt" "$PROJECT_ROOT/cmake" "$PROJECT_ROOT/src" "$PROJECT_ROOT/include" \
  "$PROJECT_ROOT/LICENSE" tree
cmake -S tree -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEAPWISE_BUILD_TESTS=OFF -DHEAPWISE_BUILD_LAB=OFF \
  >configured 2>&1 || { cat configured >&2; exit 1; }
ninja -C build -j2 >built 2>&1 || { tail -30 built >&2; exit 1; }
find build -name '*.o' -o -name '*.a' -o -name '*.so' | LC_ALL=C sort | xargs sha256sum
