import com.yahoo.labs.samoa.instances.Instance;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import moa.classifiers.Classifier;
import moa.options.ClassOption;
import moa.streams.ArffFileStream;

/**
 * Rows per second of a MOA learner on the rows of an ARFF file, held in memory before the clock starts: learning,
 * predicting, and predicting each row before it is learned. Processor time of the thread that works; the best of the
 * passes, so that the just-in-time compiler has done its part.
 *
 * java -cp moa.jar MoaRates.java rows.arff "bayes.NaiveBayes" 8
 */
public class MoaRates {
  static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  public static void main(String[] args) throws Exception {
    ArffFileStream file = new ArffFileStream(args[0], -1);
    file.prepareForUse();
    List<Instance> rows = new ArrayList<>();
    while (file.hasMoreInstances()) rows.add(file.nextInstance().getData());
    double learn = 0, predict = 0, both = 0;
    for (int pass = 0; pass < Integer.parseInt(args[2]); pass++) {
      Classifier first = learner(args[1], file);
      long begin = CLOCK.getCurrentThreadCpuTime();
      for (Instance x : rows) first.trainOnInstance(x);
      long learned = CLOCK.getCurrentThreadCpuTime();
      for (Instance x : rows) first.getVotesForInstance(x);
      long predicted = CLOCK.getCurrentThreadCpuTime();
      Classifier second = learner(args[1], file);
      long again = CLOCK.getCurrentThreadCpuTime();
      for (Instance x : rows) {
        second.getVotesForInstance(x);
        second.trainOnInstance(x);
      }
      long end = CLOCK.getCurrentThreadCpuTime();
      learn = Math.max(learn, rate(rows, learned - begin));
      predict = Math.max(predict, rate(rows, predicted - learned));
      both = Math.max(both, rate(rows, end - again));
    }
    System.out.println(learn + " " + predict + " " + both);
  }

  static Classifier learner(String named, ArffFileStream file) throws Exception {
    Classifier model = (Classifier) ClassOption.cliStringToObject(named, Classifier.class, null);
    model.setModelContext(file.getHeader());
    model.prepareForUse();
    return model;
  }

  static double rate(List<Instance> rows, long nanoseconds) {
    return rows.size() / (nanoseconds / 1e9);
  }
}
