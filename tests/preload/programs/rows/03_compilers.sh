# what:  cmake, ninja and g++ build a part of the library; the same objects come out
# needs: g++ cmake ninja
# tier:  test
# get:   apt install g++ cmake ninja-build
# proof: cmake ninja cc1plus
# limit: 240

mkdir tree
cat >tree/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(part LANGUAGES CXX)
file(GLOB sources "$PROJECT_ROOT/src/pool/c*.cpp")
add_library(part STATIC \${sources})
target_compile_features(part PRIVATE cxx_std_20)
target_include_directories(part PRIVATE "$PROJECT_ROOT/include" "$PROJECT_ROOT/src")
END
cmake -S tree -B build -G Ninja -DCMAKE_BUILD_TYPE=Release >configured 2>&1 || { cat configured; exit 1; }
ninja -C build -j2 >built 2>&1 || { cat built; exit 1; }
find build -name '*.o' | LC_ALL=C sort | xargs sha256sum
ninja -C build clean >/dev/null
find build -name '*.o'
