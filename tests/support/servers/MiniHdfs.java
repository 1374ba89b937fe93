// Two NameNodes and a DataNode of Hadoop in one process, for hdfs.sh.
//
//     java -cp 'lib/*' MiniHdfs.java FOLDER HTTP_1 HTTP_2 RPC_1 RPC_2
//
// FOLDER/data has the files, also of an earlier start. FOLDER/conf gets core-site.xml and hdfs-site.xml of a name
// service, of which the NameNode that is listed first is the standby; FOLDER/ready is written when all answer. A file
// FOLDER/failover makes the other NameNode the active one, and is removed then.
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;

public class MiniHdfs {
    static final String NS = "minihdfs";

    static MiniDFSCluster start(Path data, int[] http, int[] rpc) throws Exception {
        Configuration c = new Configuration();
        c.setInt("dfs.replication", 1);
        c.setInt("dfs.ls.limit", 100); // a folder of a few hundred files has pages
        c.setLong("dfs.namenode.fs-limits.min-block-size", 0);
        c.set("dfs.ha.namenodes." + NS, "nn1,nn2");
        String user = System.getProperty("user.name"); // an HttpFS before it may ask for others
        c.set("hadoop.proxyuser." + user + ".hosts", "*");
        c.set("hadoop.proxyuser." + user + ".groups", "*");
        boolean again = Files.exists(data); // it empties what two NameNodes share, where that is its own
        if (again)
            c.set("dfs.namenode.shared.edits.dir", data.resolve("shared-edits-0-through-1").toUri().toString());
        MiniDFSNNTopology.NSConf service = new MiniDFSNNTopology.NSConf(NS);
        for (int i = 0; i < 2; i++)
            service.addNN(new MiniDFSNNTopology.NNConf("nn" + (i + 1)).setHttpPort(http[i]).setIpcPort(rpc[i]));
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(c, data.toFile())
                                     .nnTopology(new MiniDFSNNTopology().addNameservice(service))
                                     .numDataNodes(1)
                                     .format(!again)
                                     .manageNameDfsSharedDirs(!again)
                                     .build();
        cluster.transitionToActive(1);
        cluster.waitActive(1);
        cluster.getFileSystem(1).setPermission(new org.apache.hadoop.fs.Path("/"), new FsPermission((short) 0777));
        return cluster;
    }

    static void write(Configuration c, Path to) throws Exception {
        try (OutputStream out = new FileOutputStream(to.toFile())) {
            c.writeXml(out);
        }
    }

    static void writeConf(Path folder, int[] http, int[] rpc) throws Exception {
        Configuration core = new Configuration(false), hdfs = new Configuration(false);
        Files.createDirectories(folder);
        core.set("fs.defaultFS", "hdfs://" + NS);
        hdfs.set("dfs.nameservices", NS);
        hdfs.set("dfs.ha.namenodes." + NS, "nn1,nn2");
        for (int i = 0; i < 2; i++) {
            hdfs.set("dfs.namenode.rpc-address." + NS + ".nn" + (i + 1), "127.0.0.1:" + rpc[i]);
            hdfs.set("dfs.namenode.http-address." + NS + ".nn" + (i + 1), "127.0.0.1:" + http[i]);
        }
        write(core, folder.resolve("core-site.xml"));
        write(hdfs, folder.resolve("hdfs-site.xml"));
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]).toAbsolutePath(), failover = folder.resolve("failover");
        int[] http = {Integer.parseInt(args[1]), Integer.parseInt(args[2])};
        int[] rpc = {Integer.parseInt(args[3]), Integer.parseInt(args[4])};
        // It removes its folders when it ends in order.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        MiniDFSCluster cluster = start(folder.resolve("data"), http, rpc);
        writeConf(folder.resolve("conf"), http, rpc);
        Files.write(folder.resolve("ready"), new byte[0]);
        for (int active = 1;; Thread.sleep(100)) {
            if (!Files.exists(failover))
                continue;
            cluster.transitionToStandby(active);
            active = 1 - active;
            cluster.transitionToActive(active);
            Files.delete(failover);
        }
    }
}
