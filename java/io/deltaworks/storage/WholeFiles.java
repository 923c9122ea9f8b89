package io.deltaworks.storage;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/**
 * Small files that appear whole or not at all, such as the checksum beside each of Delta's commits.
 *
 * <p>Spark writes them under another name and renames them. S3 has no rename: it becomes a copy and some twenty
 * requests. There a file is one put instead; on every other storage all is as Spark has it.
 */
public final class WholeFiles implements CheckpointFileManager {

    private final CheckpointFileManager files;
    private final FileSystem s3; // none where files are somewhere else

    public WholeFiles(Path path, Configuration conf) throws IOException {
        String scheme = path.toUri().getScheme();
        boolean onS3 = "s3a".equals(scheme) || "s3".equals(scheme);
        s3 = onS3 ? path.getFileSystem(conf) : null;
        files = onS3 ? new FileSystemBasedCheckpointFileManager(path, conf) : chosenBySpark(path, conf);
    }

    private static CheckpointFileManager chosenBySpark(Path path, Configuration conf) throws IOException {
        try {
            return fileContext(path, conf);
        } catch (UnsupportedFileSystemException unsupported) {
            return new FileSystemBasedCheckpointFileManager(path, conf);
        }
    }

    private static CheckpointFileManager fileContext(Path path, Configuration conf) throws IOException {
        return new FileContextBasedCheckpointFileManager(path, conf); // Scala declares no exceptions
    }

    @Override
    public CancellableFSDataOutputStream createAtomic(Path path, boolean overwrite) {
        if (s3 == null) {
            return files.createAtomic(path, overwrite);
        }
        try {
            return overwrite ? new Replaced(s3.create(path, true)) : new Created(s3, path);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public FSDataInputStream open(Path path) {
        return files.open(path);
    }

    @Override
    public FileStatus[] list(Path path, PathFilter filter) {
        return files.list(path, filter);
    }

    @Override
    public void mkdirs(Path path) {
        files.mkdirs(path);
    }

    @Override
    public boolean exists(Path path) {
        return files.exists(path);
    }

    @Override
    public void delete(Path path) {
        files.delete(path);
    }

    @Override
    public boolean isLocal() {
        return files.isLocal();
    }

    @Override
    public Path createCheckpointDirectory() {
        return files.createCheckpointDirectory();
    }

    /** A file that may be there already, as large as it may be: S3 shows it once it is whole. */
    private static final class Replaced extends CancellableFSDataOutputStream {

        private final FSDataOutputStream file;

        Replaced(FSDataOutputStream file) {
            super(file);
            this.file = file;
        }

        @Override
        public void cancel() {
            file.abort();
        }
    }

    /** A file that must not be there yet; it is small, and waits here until it is whole. */
    private static final class Created extends CancellableFSDataOutputStream {

        private final FileSystem fs;
        private final Path path;
        private boolean done;

        Created(FileSystem fs, Path path) {
            super(new ByteArrayOutputStream());
            this.fs = fs;
            this.path = path;
        }

        @Override
        public void close() throws IOException {
            if (done) {
                return;
            }
            done = true;
            OutputStream content = underlyingStream();
            try {
                ConditionalPutLogStore.create(fs, path, ((ByteArrayOutputStream) content).toByteArray());
            } catch (java.nio.file.FileAlreadyExistsException theirs) {
                throw new FileAlreadyExistsException(path + " is there already");
            }
        }

        @Override
        public void cancel() {
            done = true;
        }
    }
}
