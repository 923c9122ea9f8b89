package io.deltaworks.storage;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.CreateFileOptionKeys;
import org.apache.hadoop.fs.Path;

/**
 * A log store on S3 for any number of writers: a commit is a put that S3 refuses when the file is there.
 *
 * <p>A put whose reply was lost is sent again by the client below us, and then refused because of our own file. So
 * whatever a failed put says, the file itself is asked. Every commit carries an id of its own: the same bytes are ours.
 */
public final class ConditionalPutLogStore extends HadoopFileSystemLogStore {

    private enum Found { NOTHING, OURS, THEIRS }

    public ConditionalPutLogStore(Configuration conf) {
        super(conf);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
        // All of it before anything is opened: actions that fail half way leave no file.
        byte[] content = serialised(actions);
        FileSystem fs = path.getFileSystem(conf);
        if (overwrite) {
            put(fs.create(path, true), content);
        } else {
            create(fs, path, content);
        }
    }

    @Override
    public Iterator<FileStatus> listFrom(Path path, Configuration conf) throws IOException {
        return S3A.listFrom(path.getFileSystem(conf), path).iterator();
    }

    @Override
    public Boolean isPartialWriteVisible(Path path, Configuration conf) {
        return false;
    }

    private static byte[] serialised(Iterator<String> actions) {
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        actions.forEachRemaining(action -> lines.writeBytes((action + "\n").getBytes(StandardCharsets.UTF_8)));
        return lines.toByteArray();
    }

    static void create(FileSystem fs, Path path, byte[] content) throws IOException {
        int retries = fs.getConf().getInt("fs.s3a.retry.limit", 7);
        for (int attempt = 1; ; attempt++) {
            try {
                put(opened(fs, path), content);
                return;
            } catch (IOException failure) {
                Found found = readBack(fs, path, content, failure);
                if (found == Found.OURS) {
                    return;
                }
                if (found == Found.THEIRS) {
                    throw new FileAlreadyExistsException(path.toString());
                }
                if (attempt > retries || !S3A.asksToRetry(failure)) {
                    throw failure;
                }
            }
            pause(fs, attempt);
        }
    }

    private static FSDataOutputStream opened(FileSystem fs, Path path) throws IOException {
        FSDataOutputStreamBuilder<?, ?> file = fs.createFile(path);
        // A must: a file system that cannot do it refuses, and never just overwrites.
        file.must(CreateFileOptionKeys.FS_OPTION_CREATE_CONDITIONAL_OVERWRITE, true);
        return file.build();
    }

    private static void put(FSDataOutputStream stream, byte[] content) throws IOException {
        try {
            stream.write(content);
        } catch (Throwable failure) {
            stream.abort(); // closing would publish what was written so far
            throw failure;
        }
        stream.close();
    }

    private static Found readBack(FileSystem fs, Path path, byte[] content, IOException failure) throws IOException {
        try (FSDataInputStream file = fs.open(path)) {
            return Arrays.equals(file.readNBytes(content.length + 1), content) ? Found.OURS : Found.THEIRS;
        } catch (FileNotFoundException absent) {
            return Found.NOTHING;
        } catch (IOException unreadable) {
            failure.addSuppressed(unreadable); // not known: neither a success nor a conflict
            throw failure;
        }
    }

    private static void pause(FileSystem fs, int attempt) throws IOException {
        long interval = fs.getConf().getTimeDuration("fs.s3a.retry.interval", "500ms", TimeUnit.MILLISECONDS);
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(interval * attempt + 1));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException(stopped.getMessage());
        }
    }
}
