import com.github.luben.zstd.Zstd;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.Arrays;
import java.util.stream.IntStream;

/** Libraries in C and C++ that come with packages of Maven, called by JNI from threads. */
public class Natives {
  static long work(int seed) {
    try {
      byte[] text = "text %d ".formatted(seed).repeat(5000).getBytes();
      byte[] back = Zstd.decompress(Zstd.compress(text, 7), text.length);
      if (!Arrays.equals(text, back)) throw new Error("zstd");
      try (Connection database = DriverManager.getConnection("jdbc:sqlite::memory:")) {
        var statement = database.createStatement();
        statement.execute("create table t(n integer)");
        for (int i = 0; i < 500; i++) statement.execute("insert into t values (" + i * seed + ")");
        ResultSet sum = statement.executeQuery("select sum(n) from t");
        return sum.getLong(1) + back.length;
      }
    } catch (Exception error) {
      throw new Error(error);
    }
  }

  public static void main(String[] words) {
    System.out.println("natives " + IntStream.range(0, 16).parallel().mapToLong(Natives::work).sum());
  }
}
