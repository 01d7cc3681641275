import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Binary trees on whichever collector the virtual machine was started with. */
public final class BinaryTrees {
  private static final int MIN_DEPTH = 4;
  private static final int DEFAULT_DEPTH = 10;

  private static final class Node {
    final Node left;
    final Node right;

    Node(Node left, Node right) {
      this.left = left;
      this.right = right;
    }

    static Node make(int depth) {
      return depth == 0 ? new Node(null, null) : new Node(make(depth - 1), make(depth - 1));
    }

    long count() {
      return left == null ? 1 : 1 + left.count() + right.count();
    }
  }

  private static void treesOfDepth(int depth, long trees) {
    long check = 0;
    for (long i = 0; i < trees; i++) check += Node.make(depth).count();
    System.out.print(trees + "\t trees of depth " + depth + "\t check: " + check + "\n");
  }

  private static void tell(String what, int depth, Node tree) {
    System.out.print(what + " tree of depth " + depth + "\t check: " + tree.count() + "\n");
  }

  public static void main(String[] arguments) throws IOException {
    int asked = arguments.length > 0 ? Integer.parseInt(arguments[0]) : DEFAULT_DEPTH;
    int depth = Math.max(asked, MIN_DEPTH + 2);

    tell("stretch", depth + 1, Node.make(depth + 1));
    Node longLived = Node.make(depth);
    for (int d = MIN_DEPTH; d <= depth; d += 2) treesOfDepth(d, 1L << (depth - d + MIN_DEPTH));
    tell("long lived", depth, longLived);

    String folder = System.getProperty("trees.log");
    if (folder != null) tellCollections(Path.of(folder, ProcessHandle.current().pid() + ".log"));
  }

  /**
   * From the log of -Xlog:gc,safepoint, because the beans count pauses in whole milliseconds. A pause
   * is a stop of the program for the collector, with the time that it took to reach a safepoint.
   */
  private static void tellCollections(Path log) throws IOException {
    List<String> lines = Files.readAllLines(log);
    Files.delete(log);
    long collections = 0;
    long longestNs = 0;
    long totalNs = 0;
    for (String line : lines) {
      long collection = numberAfter(line, "GC(");
      collections = Math.max(collections, collection + 1);
      long pausedNs = isPause(line) ? numberAfter(line, "Total:") : 0;
      longestNs = Math.max(longestNs, pausedNs);
      totalNs += pausedNs;
    }
    System.err.printf(
        Locale.ROOT,
        "heapwise-trees: collections=%d longest_pause_s=%.6f total_pause_s=%.6f%n",
        collections,
        longestNs / 1e9,
        totalNs / 1e9);
  }

  /** Safepoints are named after what is done there; these are the names of collectors. */
  private static boolean isPause(String line) {
    return List.of("G1", "Z", "Shenandoah", "Parallel", "Gen", "Serial", "Collect").stream()
        .anyMatch(collector -> line.contains("Safepoint \"" + collector));
  }

  /** The number that follows the words, or -1. */
  private static long numberAfter(String line, String words) {
    int at = line.indexOf(words);
    if (at < 0) return -1;
    long number = 0;
    for (char c : line.substring(at + words.length()).stripLeading().toCharArray()) {
      if (c < '0' || c > '9') break;
      number = 10 * number + (c - '0');
    }
    return number;
  }
}
