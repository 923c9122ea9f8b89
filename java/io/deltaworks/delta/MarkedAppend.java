package io.deltaworks.delta;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.DeltaOptions;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.VersionChecksum;
import org.apache.spark.sql.delta.actions.SetTransaction;
import org.apache.spark.sql.delta.commands.WriteIntoDelta;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.CreatableRelationProvider;
import org.apache.spark.sql.types.DataType;
import scala.Option;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Delta's own append, by the format name of this class, which finds out sooner whether its mark is there already.
 *
 * <p>Delta looks for the mark in the state of the whole table: a Spark job over all its files, which for a small batch
 * takes longer than the batch. The checksum that Delta keeps of each version names all marks too. Where it does not,
 * because another engine made that version, Delta finds out in its own way. All else is as Delta has it.
 */
public final class MarkedAppend implements CreatableRelationProvider {

    @Override
    public BaseRelation createRelation(
            SQLContext context, SaveMode mode, Map<String, String> parameters, Dataset<Row> rows) {
        SparkSession spark = context.sparkSession();
        DeltaLog log = DeltaLog.forTable(spark, new Path(CollectionConverters.asJava(parameters).get("path")), parameters);
        new Write(log, new DeltaOptions(parameters, rows.queryExecution().sparkSession().sessionState().conf()), rows)
                .run(spark);
        return log.createRelation(
                log.createRelation$default$1(), log.createRelation$default$2(), log.createRelation$default$3(), false);
    }

    @Override
    public boolean supportsDataType(DataType type) {
        return true; // Delta itself refuses what it cannot keep
    }

    private static final class Write extends WriteIntoDelta {

        private static final long serialVersionUID = 1;

        Write(DeltaLog log, DeltaOptions options, Dataset<Row> rows) {
            super(log, SaveMode.Append, options, none(), Map$.MODULE$.empty(), rows, Option.empty(), Option.empty(), false);
        }

        @SuppressWarnings("unchecked")
        private static Seq<String> none() {
            return (Seq<String>) (Seq<?>) Nil$.MODULE$;
        }

        @Override
        public boolean hasBeenExecuted(OptimisticTransaction txn, SparkSession spark, Option<DeltaOptions> options) {
            Option<VersionChecksum> checksum = txn.snapshot().checksumOpt();
            DeltaOptions mark = options.get();
            if (checksum.isEmpty() || checksum.get().setTransactions().isEmpty() || mark.txnAppId().isEmpty()) {
                return super.hasBeenExecuted(txn, spark, options);
            }
            String application = mark.txnAppId().get();
            long version = (Long) mark.txnVersion().get();
            txn.readTxn().addOne(application); // so that another writer's mark of the same application is a conflict
            Seq<SetTransaction> marks = checksum.get().setTransactions().get();
            return CollectionConverters.asJava(marks).stream().anyMatch(found -> reaches(found, application, version));
        }

        private static boolean reaches(SetTransaction found, String application, long version) {
            return found.appId().equals(application) && found.version() >= version;
        }
    }
}
