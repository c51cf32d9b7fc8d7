import java.io.FileReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import weka.classifiers.bayes.AODE;
import weka.core.Instances;

/**
 * Rows per second of Weka's AODE on the rows of an ARFF file, held in memory before the clock starts: learning,
 * predicting, and predicting each row before it is learned. Processor time of the thread that works; the best of the
 * passes, so that the just-in-time compiler has done its part.
 *
 * java -cp weka.jar WekaRates.java rows.arff 8
 */
public class WekaRates {
  static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  public static void main(String[] args) throws Exception {
    Instances rows = new Instances(new FileReader(args[0]));
    rows.setClassIndex(rows.numAttributes() - 1);
    int n = rows.numInstances();
    double learn = 0, predict = 0, both = 0;
    for (int pass = 0; pass < Integer.parseInt(args[1]); pass++) {
      AODE first = new AODE();
      first.buildClassifier(new Instances(rows, 0));
      long begin = CLOCK.getCurrentThreadCpuTime();
      for (int i = 0; i < n; i++) first.updateClassifier(rows.instance(i));
      long learned = CLOCK.getCurrentThreadCpuTime();
      for (int i = 0; i < n; i++) first.distributionForInstance(rows.instance(i));
      long predicted = CLOCK.getCurrentThreadCpuTime();
      AODE second = new AODE();
      second.buildClassifier(new Instances(rows, 0));
      long again = CLOCK.getCurrentThreadCpuTime();
      for (int i = 0; i < n; i++) {
        second.distributionForInstance(rows.instance(i));
        second.updateClassifier(rows.instance(i));
      }
      long end = CLOCK.getCurrentThreadCpuTime();
      learn = Math.max(learn, n * 1e9 / (learned - begin));
      predict = Math.max(predict, n * 1e9 / (predicted - learned));
      both = Math.max(both, n * 1e9 / (end - again));
    }
    System.out.println(learn + " " + predict + " " + both);
  }
}
