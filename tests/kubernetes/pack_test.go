// Package kubernetes tests examples/kubernetes/pack.yaml: the API server decodes it, its numbers fit each other, and
// its pods pack a set whose bytes are those of one process.
//
// IM2REC and IMREC_PHOTOS are the program and a folder of images. IMREC_BUCKETS is the folder of an S3 server that keeps
// its buckets as folders, whose variables (AWS_...) are set; without, sets are packed into files alone.
package kubernetes

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

const bucket = "s3://bucket" // of the manifest and the guide

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

func manifest(t *testing.T) string { return read(t, "../../examples/kubernetes/pack.yaml") }
func guide(t *testing.T) string    { return read(t, "../../docs/guide/kubernetes.md") }

// ---- the manifest ---------------------------------------------------------------------------

// decode is what the API server does with a manifest where fields are validated strictly.
func decode(text string) (*batchv1.Job, error) {
	scheme := runtime.NewScheme()
	if err := batchv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	object, _, err := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer().Decode([]byte(text), nil, nil)
	if err != nil {
		return nil, err
	}
	job, ok := object.(*batchv1.Job)
	if !ok {
		return nil, fmt.Errorf("a %T, not a Job", object)
	}
	return job, nil
}

func theJob(t *testing.T) (*batchv1.Job, *corev1.Container) {
	t.Helper()
	job, err := decode(manifest(t))
	must(t, err)
	if n := len(job.Spec.Template.Spec.Containers); n != 1 {
		t.Fatalf("%d containers", n)
	}
	return job, &job.Spec.Template.Spec.Containers[0]
}

func TestWhatIsNoFieldIsRefused(t *testing.T) {
	for _, change := range [][3]string{
		{"completionMode:", "completionmode:", `unknown field "spec.completionmode"`},
		{"restartPolicy:", "restartpolicy:", `unknown field "spec.template.spec.restartpolicy"`},
		{"- secretRef:", "- secretref:", `unknown field "spec.template.spec.containers[0].envFrom[0].secretref"`},
		{"completions: 16", "completions: 16\n  pods: 16", `unknown field "spec.pods"`},
		{"completions: 16", "completions: 16\n  completions: 16", `"completions" already set in map`},
		{"completions: 16", "completions: many", "cannot unmarshal string"},
		{"kind: Job", "kind: Jobs", `no kind "Jobs" is registered`},
	} {
		text := strings.Replace(manifest(t), change[0], change[1], 1)
		if _, err := decode(text); text == manifest(t) || err == nil || !strings.Contains(err.Error(), change[2]) {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}

func TestTheNumbersOfTheJobFit(t *testing.T) {
	job, c := theJob(t)
	spec, pod := job.Spec, job.Spec.Template.Spec
	if spec.CompletionMode == nil || *spec.CompletionMode != batchv1.IndexedCompletion {
		t.Error("without completionMode Indexed no pod has a number")
	}
	if len(c.Command) != 6 || c.Command[0] != "im2rec" || c.Command[1] != "--work" || c.Command[4] != "--threads" || len(c.Args) != 0 {
		t.Fatalf("command %q, args %q", c.Command, c.Args)
	}
	if want := fmt.Sprintf("$(JOB_COMPLETION_INDEX)/%d", *spec.Completions); c.Command[3] != want {
		t.Errorf("the command says %s, completions %s", c.Command[3], want)
	}
	if *spec.Parallelism < 1 || *spec.Parallelism > *spec.Completions {
		t.Errorf("parallelism is %d", *spec.Parallelism)
	}
	if pod.RestartPolicy != corev1.RestartPolicyNever { // which backoffLimitPerIndex and podFailurePolicy need
		t.Errorf("restartPolicy is %s", pod.RestartPolicy)
	}
	if spec.BackoffLimitPerIndex == nil || *spec.BackoffLimitPerIndex < 1 || spec.BackoffLimit != nil {
		t.Error("one lost index ends the others")
	}
	if len(c.EnvFrom) != 1 || c.EnvFrom[0].SecretRef == nil {
		t.Errorf("variables from elsewhere than a Secret: %v", c.EnvFrom)
	}
	if c.Resources.Requests.Cpu().String() != c.Command[5] {
		t.Errorf("%s CPUs for %s threads", c.Resources.Requests.Cpu(), c.Command[5])
	}
	threads, err := strconv.ParseInt(c.Command[5], 10, 64)
	must(t, err)
	if memory := c.Resources.Limits.Memory().Value(); memory < (1024+64+64*threads)<<20 {
		t.Errorf("%d bytes are not enough for --memory and %d threads", memory, threads)
	}
}

func TestFailuresThatCount(t *testing.T) {
	job, c := theJob(t)
	var ignored, fatal []string
	for _, rule := range job.Spec.PodFailurePolicy.Rules {
		if rule.Action == batchv1.PodFailurePolicyActionIgnore && len(rule.OnPodConditions) == 1 {
			ignored = append(ignored, string(rule.OnPodConditions[0].Type))
		}
		if e := rule.OnExitCodes; e != nil && rule.Action == batchv1.PodFailurePolicyActionFailJob {
			fatal = append(fatal, fmt.Sprintf("%s %s %v", *e.ContainerName, e.Operator, e.Values))
		}
	}
	if !slices.Equal(ignored, []string{string(corev1.DisruptionTarget)}) || !slices.Equal(fatal, []string{c.Name + " In [2]"}) {
		t.Errorf("ignored %q, ends the Job %q", ignored, fatal)
	}
	run := commandOf(t, podOf(job, 16), files(t.TempDir())) // an index that the command cannot divide
	said, _ := run.CombinedOutput()
	if run.ProcessState.ExitCode() != 2 {
		t.Errorf("wrong usage ends with %d: %s", run.ProcessState.ExitCode(), said)
	}
}

func TestTheGuideNamesTheJobAndItsSecret(t *testing.T) {
	job, c := theJob(t)
	for _, want := range []string{
		"    kubectl create secret generic " + c.EnvFrom[0].SecretRef.Name + " --from-env-file=",
		"    im2rec --plan " + c.Command[2] + " ",
		"    im2rec --finish " + c.Command[2] + "\n",
		" job/" + job.Name + "\n",
		"`kubectl delete job " + job.Name + "`",
	} {
		if !strings.Contains(guide(t), want) {
			t.Errorf("not in the guide: %s", want)
		}
	}
}

// ---- what a kubelet does --------------------------------------------------------------------

var reference = regexp.MustCompile(`\$\$|\$\([^)]*\)`)

// expand replaces $(NAME) by a variable's value; $(NAME) of none stays, and $$ is a $.
func expand(word string, variables map[string]string) string {
	return reference.ReplaceAllStringFunc(word, func(found string) string {
		if found == "$$" {
			return "$"
		}
		if value, ok := variables[found[2:len(found)-1]]; ok {
			return value
		}
		return found
	})
}

func TestVariablesOfCommands(t *testing.T) {
	variables := map[string]string{"A": "1", "B": "$(A)"}
	for word, want := range map[string]string{
		"$(A)/16": "1/16", "$(A)$(A)": "11", "$(B)": "$(A)", "$(C)": "$(C)", "$$(A)": "$(A)", "$$$(A)": "$1", "$A": "$A",
		"$(A": "$(A", "a$": "a$",
	} {
		if got := expand(word, variables); got != want {
			t.Errorf("%s: %s, not %s", word, got, want)
		}
	}
}

// podOf is the pod that the Job controller makes for an index; controller_test.go compares.
func podOf(job *batchv1.Job, index int) *corev1.Pod {
	pod := &corev1.Pod{Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Labels = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		c.Env = append(c.Env, corev1.EnvVar{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + batchv1.JobCompletionIndexAnnotation + "']"}}})
	}
	return pod
}

var label = regexp.MustCompile(`^metadata\.labels\['(.*)'\]$`)

// commandOf is what the kubelet runs for a pod: with the variables of its Secret, its own, and no other.
func commandOf(t *testing.T, pod *corev1.Pod, at place) *exec.Cmd {
	t.Helper()
	c, variables := pod.Spec.Containers[0], map[string]string{}
	for _, from := range c.EnvFrom {
		for name, value := range at.secret() {
			variables[from.Prefix+name] = value
		}
	}
	for _, v := range c.Env {
		variables[v.Name] = expand(v.Value, variables)
		if v.ValueFrom != nil {
			variables[v.Name] = pod.Labels[label.FindStringSubmatch(v.ValueFrom.FieldRef.FieldPath)[1]]
		}
	}
	var words, env []string
	for _, word := range append(slices.Clone(c.Command), c.Args...) {
		words = append(words, at.put(expand(word, variables)))
	}
	for name, value := range variables {
		env = append(env, name+"="+value)
	}
	run := exec.Command(os.Getenv("IM2REC"), words[1:]...) // the PATH of the image
	run.Env = env
	return run
}

// ---- where sets are packed ------------------------------------------------------------------

// A place is what s3://bucket means, and the folder with its files.
type place struct{ uri, folder string }

func files(folder string) place { return place{folder, folder} }

func (at place) put(words string) string { return strings.ReplaceAll(words, bucket, at.uri) }

// plan is the folder of the plan that a container works on.
func (at place) plan(c *corev1.Container) string {
	return at.folder + strings.TrimPrefix(c.Command[2], bucket)
}

// secret is what a user puts into s3.env.
func (at place) secret() map[string]string {
	keys := map[string]string{}
	if at.uri != at.folder {
		for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL"} {
			keys[name] = os.Getenv(name)
		}
	}
	return keys
}

// inEach runs a test in files, and in a new bucket of the S3 server where there is one; each has the photographs.
func inEach(t *testing.T, name string, test func(t *testing.T, at place)) {
	t.Run("files", func(t *testing.T) {
		at := files(t.TempDir())
		must(t, os.CopyFS(at.folder+"/photos", os.DirFS(os.Getenv("IMREC_PHOTOS"))))
		test(t, at)
	})
	t.Run("s3", func(t *testing.T) {
		buckets := os.Getenv("IMREC_BUCKETS")
		if buckets == "" {
			t.Skip("no S3 server")
		}
		at := place{"s3://" + name, buckets + "/" + name}
		must(t, os.CopyFS(at.folder+"/photos", os.DirFS(os.Getenv("IMREC_PHOTOS"))))
		test(t, at)
	})
}

// shell runs a line as a user does.
func (at place) shell(line string) (string, error) {
	run := exec.Command("bash", "-c", at.put(line))
	run.Env = append(os.Environ(), "PATH="+filepath.Dir(os.Getenv("IM2REC"))+":"+os.Getenv("PATH"))
	said, err := run.CombinedOutput()
	return string(said), err
}

// setOf is what one process packs with the options of a line of the guide.
func setOf(t *testing.T, options string) map[string][]byte {
	folder := t.TempDir()
	said, err := files(folder).shell("im2rec --quiet " + options + " '" + os.Getenv("IMREC_PHOTOS") + "' " + bucket + "/train.rec")
	if err != nil {
		t.Fatal(err, said)
	}
	return filesOf(t, folder)
}

func filesOf(t *testing.T, folder string) map[string][]byte {
	found := map[string][]byte{}
	names, err := filepath.Glob(folder + "/train*")
	must(t, err)
	for _, name := range names {
		found[filepath.Base(name)] = []byte(read(t, name))
	}
	return found
}

func compare(t *testing.T, got, want map[string][]byte) {
	t.Helper()
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s: %d bytes that are not the %d of one process", name, len(got[name]), len(want[name]))
		}
	}
	if len(got) != len(want) || len(want) < 10 {
		t.Errorf("%d files, of one process %d", len(got), len(want))
	}
}

// runAll runs pods as a cluster of four nodes does; its errors are those of pods.
func runAll(t *testing.T, job *batchv1.Job, at place, indexes []int) {
	t.Helper()
	var all sync.WaitGroup
	room := make(chan struct{}, 4)
	for _, index := range indexes {
		run := commandOf(t, podOf(job, index), at)
		all.Go(func() {
			room <- struct{}{}
			if said, err := run.CombinedOutput(); err != nil {
				t.Errorf("pod %d: %v: %s", index, err, said)
			}
			<-room
		})
	}
	all.Wait()
}

func indexesOf(job *batchv1.Job) []int {
	indexes := make([]int, *job.Spec.Completions)
	for i := range indexes {
		indexes[i] = i
	}
	return indexes
}

// line is the first of the guide that begins so.
func line(t *testing.T, begin string) string {
	t.Helper()
	for text := range strings.Lines(guide(t)) {
		if strings.HasPrefix(text, "    "+begin) {
			return strings.TrimSpace(text)
		}
	}
	t.Fatalf("the guide has no line %s", begin)
	return ""
}

var planned = regexp.MustCompile(`^im2rec --plan \S+ (.*) ` + bucket + `/photos ` + bucket + `/train.rec$`)

func TestTheLinesOfTheGuideMakeTheSetOfOneProcess(t *testing.T) {
	job, _ := theJob(t)
	options := planned.FindStringSubmatch(line(t, "im2rec --plan "))
	if options == nil {
		t.Fatal("the guide plans something else")
	}
	want := setOf(t, options[1])
	inEach(t, "bucket", func(t *testing.T, at place) {
		if said, err := at.shell(line(t, "im2rec --plan ")); err != nil {
			t.Fatal(err, said)
		}
		runAll(t, job, at, indexesOf(job))
		if said, err := at.shell(line(t, "im2rec --finish ")); err != nil {
			t.Fatal(err, said)
		}
		compare(t, filesOf(t, at.folder), want)
	})
}

// ---- a pod that is killed -------------------------------------------------------------------

var heartbeat = regexp.MustCompile(`^task-(\d+)\.running-[0-9a-f]+$`)

// taskInWork is the task that a process works on now; -1: there is none.
func taskInWork(t *testing.T, run *exec.Cmd, plan string) int {
	t.Helper()
	entries, err := os.ReadDir(plan)
	must(t, err)
	for _, entry := range entries {
		found := heartbeat.FindStringSubmatch(entry.Name())
		if found == nil {
			continue
		}
		who, err := os.ReadFile(filepath.Join(plan, entry.Name())) // which may be gone
		if err == nil && strings.HasPrefix(string(who), fmt.Sprintf("process %d on ", run.Process.Pid)) {
			task, err := strconv.Atoi(found[1])
			must(t, err)
			return task
		}
	}
	return -1
}

// killInMidTask kills a pod that has been started, when it works on a task, which is one of its index. Returns the task.
func killInMidTask(t *testing.T, run *exec.Cmd, plan string, index, pods int) int {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if task := taskInWork(t, run, plan); task >= 0 {
			must(t, run.Process.Kill())
			if task%pods != index {
				t.Errorf("pod %d of %d did task %d", index, pods, task)
			}
			return task
		}
	}
	t.Fatalf("pod %d works on nothing", index)
	return -1
}

func TestAnIndexThatIsKilledIsRunAgain(t *testing.T) {
	const options, index = "--resize 1200 --quality 80 --shards 32", 5
	job, c := theJob(t)
	pods := int(*job.Spec.Completions)
	want := setOf(t, options)
	inEach(t, "killed", func(t *testing.T, at place) {
		plan := at.plan(c)
		if said, err := at.shell("im2rec --plan " + c.Command[2] + " " + options + " " + bucket + "/photos " + bucket + "/train.rec"); err != nil {
			t.Fatal(err, said)
		}
		run := commandOf(t, podOf(job, index), at)
		must(t, run.Start())
		task := killInMidTask(t, run, plan, index, pods)
		if err := run.Wait(); err == nil || run.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatal("the pod ended by itself: ", err)
		}
		runAll(t, job, at, slices.DeleteFunc(indexesOf(job), func(i int) bool { return i == index }))
		said, err := at.shell("im2rec --finish " + c.Command[2])
		if err == nil || !strings.Contains(said, fmt.Sprintf("tasks are not done: %d", task)) {
			t.Fatalf("finish without task %d: %v: %s", task, err, said)
		}
		runAll(t, job, at, []int{index}) // with the same index, as the Job controller does
		if said, err := at.shell("im2rec --finish " + c.Command[2]); err != nil {
			t.Fatal(err, said)
		}
		compare(t, filesOf(t, at.folder), want)
	})
}
