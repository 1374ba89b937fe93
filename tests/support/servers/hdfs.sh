# hdfs: HDFS with a standby NameNode: Hadoop's MiniDFSCluster (by Maven; 80 MB)
# shellcheck shell=bash
#
# NameNodes and DataNode are one process of Java, MiniHdfs.java, with 512 MB of memory for its objects. `touch
# "$IMREC_TEST_HDFS/failover"` makes the other NameNode the active one; the file is removed when it is.
HADOOP=3.4.1
HADOOP_LIB=$CACHE/hadoop-$HADOOP/lib
# shellcheck disable=SC2034 # common.sh reads it
server_ports=4

# The parts of Hadoop that a NameNode and a DataNode need, by Maven Central; Maven checks the sums of all files.
hadoop_pom() {
    local line
    echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    echo '<groupId>imrec</groupId><artifactId>servers</artifactId><version>1</version><packaging>pom</packaging>'
    echo '<dependencies>'
    for line in com.fasterxml.jackson.core:jackson-core:2.12.7 org.apache.hadoop:hadoop-common:$HADOOP \
        org.apache.hadoop:hadoop-common:$HADOOP:test-jar org.apache.hadoop:hadoop-hdfs:$HADOOP \
        org.apache.hadoop:hadoop-hdfs:$HADOOP:test-jar org.apache.hadoop:hadoop-hdfs-client:$HADOOP \
        junit:junit:4.13.2 org.mockito:mockito-core:2.28.2; do
        IFS=: read -r group name version type <<<"$line"
        echo "<dependency><groupId>$group</groupId><artifactId>$name</artifactId><version>$version</version>" \
            "<type>${type:-jar}</type></dependency>"
    done
    echo '</dependencies></project>'
}

server_install() {
    need_command curl curl
    need_command java default-jdk-headless
    [ ! -e "$HADOOP_LIB/complete" ] || return 0
    need_command mvn maven
    may_fetch "Hadoop $HADOOP"
    rm -rf "$CACHE/hadoop-$HADOOP"
    mkdir -p "$HADOOP_LIB"
    hadoop_pom >"$CACHE/hadoop-$HADOOP/pom.xml"
    quietly "Hadoop" mvn -q -B -f "$CACHE/hadoop-$HADOOP/pom.xml" -Dmaven.repo.local="$CACHE/hadoop-$HADOOP/maven" \
        org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory="$HADOOP_LIB"
    rm -rf "$CACHE/hadoop-$HADOOP/maven"
    touch "$HADOOP_LIB/complete"
}

server_make() { :; }

server_run() { # WebHDFS makes classes at run time, which Java 17 forbids otherwise
    rm -f "$RUN/ready"
    daemon hadoop java -Xmx512m -XX:TieredStopAtLevel=1 --add-opens java.base/java.lang=ALL-UNNAMED \
        -cp "$HADOOP_LIB/*" "$HERE/MiniHdfs.java" "$RUN" "$PORT" "$PORT_2" "$PORT_3" "$PORT_4"
}

server_ready() {
    [ -e "$RUN/ready" ] && curl -fsS "http://127.0.0.1:$PORT_2/webhdfs/v1/?op=GETFILESTATUS"
}

server_fill() {
    curl -fsS -X PUT "http://127.0.0.1:$PORT_2/webhdfs/v1/bucket?op=MKDIRS&user.name=tester" >&2
}

server_variables() {
    variable HADOOP_CONF_DIR "$RUN/conf"
    variable HADOOP_USER_NAME tester
    variable IMREC_TEST_BUCKET hdfs://minihdfs/bucket
    variable IMREC_TEST_WEBHDFS "webhdfs://127.0.0.1:$PORT_2/bucket"
    variable IMREC_TEST_HDFS "$RUN"
}
