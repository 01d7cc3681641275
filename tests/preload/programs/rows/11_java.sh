# what:  java: the compiler, direct buffers, deflate, threads
# needs: java javac
# tier:  long
# get:   apt install openjdk-17-jdk-headless
# proof: java javac
# limit: 180

cat >T.java <<'END'
import java.nio.*; import java.util.*; import java.util.concurrent.*; import java.util.zip.*;
public class T {
  static long work(int seed) throws Exception {
    Random r = new Random(seed); long sum = 0;
    List<ByteBuffer> kept = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      ByteBuffer b = ByteBuffer.allocateDirect(1 + r.nextInt(200000));
      b.put(0, (byte) i); kept.add(b);
      if (kept.size() > 50) kept.clear();
      byte[] in = new byte[5000]; r.nextBytes(in); Arrays.fill(in, 1000, 4000, (byte) i);
      Deflater d = new Deflater(); d.setInput(in); d.finish();
      byte[] out = new byte[8000]; int n = d.deflate(out); d.end();
      Inflater f = new Inflater(); f.setInput(out, 0, n); byte[] back = new byte[5000];
      if (f.inflate(back) != 5000 || !Arrays.equals(in, back)) throw new Error("lost"); f.end();
      CRC32 c = new CRC32(); c.update(out, 0, n); sum += c.getValue();
    }
    return sum;
  }
  public static void main(String[] a) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8);
    List<Future<Long>> all = new ArrayList<>();
    for (int i = 0; i < 16; i++) { int s = i; all.add(pool.submit(() -> work(s))); }
    for (Future<Long> f : all) System.out.println(f.get());
    pool.shutdown();
  }
}
END
javac T.java
java -Xmx256m -XX:MaxDirectMemorySize=512m T
java -Xmx256m -XX:+UseParallelGC -Xint -version 2>/dev/null && echo well
