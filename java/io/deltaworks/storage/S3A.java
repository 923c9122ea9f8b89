package io.deltaworks.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.s3a.AWSServiceIOException;
import org.apache.hadoop.fs.s3a.Listing;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3ListRequest;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.apache.hadoop.util.functional.RemoteIterators;

/** What only S3A's own classes can say: apart, so that a session without them can load the log store. */
final class S3A {

    private static final int CONFLICT = 409;

    private S3A() {}

    /** S3 could not decide between two writers, and asks both to come again. */
    static boolean asksToRetry(IOException failure) {
        return failure instanceof AWSServiceIOException && ((AWSServiceIOException) failure).statusCode() == CONFLICT;
    }

    /** The files beside {@code path} from its name on, sorted; S3 is asked for no name before it. */
    static List<FileStatus> listFrom(FileSystem fs, Path path) throws IOException {
        S3AFileSystem s3a = (S3AFileSystem) fs;
        Path from = s3a.makeQualified(path);
        Path folder = from.getParent();
        List<FileStatus> found = new ArrayList<>();
        try (AuditSpan span = s3a.createSpan("op_list_status", folder.toString(), null)) {
            PathFilter late = file -> file.getName().compareTo(from.getName()) >= 0;
            RemoteIterator<S3AFileStatus> files = s3a.getListing().createFileStatusListingIterator(
                folder, request(s3a, from, span), late, new Listing.AcceptAllButSelfAndS3nDirs(folder), span);
            RemoteIterators.foreach(files, found::add);
        }
        if (found.isEmpty()) {
            s3a.getFileStatus(folder); // a folder that is not there is an error, as in every other log store
        }
        found.sort(Comparator.comparing(file -> file.getPath().getName()));
        return found;
    }

    private static S3ListRequest request(S3AFileSystem s3a, Path from, AuditSpan span) {
        String key = s3a.pathToKey(from);
        String folder = key.substring(0, key.length() - from.getName().length());
        S3ListRequest all = s3a.getListing().createListObjectsRequest(folder, "/", span);
        // S3 lists what comes after a name; without its last letter a name stands just before itself.
        String before = key.substring(0, key.length() - 1);
        return all.isV1() ? all : S3ListRequest.v2(all.getV2().toBuilder().startAfter(before).build());
    }
}
