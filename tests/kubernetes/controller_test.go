//go:build controller

package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	controller "k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/fieldpath"
	registry "k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// ---- the API server -------------------------------------------------------------------------

// accept is what the API server does with a new Job: defaults, a selector, and what it finds wrong.
func accept(t *testing.T, text string) (*batchv1.Job, field.ErrorList) {
	t.Helper()
	job, err := decode(text)
	must(t, err)
	job.Namespace, job.UID, job.CreationTimestamp = "default", "0123", metav1.Now()
	legacyscheme.Scheme.Default(job)
	var inner batch.Job
	must(t, legacyscheme.Scheme.Convert(job, &inner, nil))
	registry.Strategy.PrepareForCreate(context.Background(), &inner)
	wrong := registry.Strategy.Validate(context.Background(), &inner)
	kept := &batchv1.Job{}
	must(t, legacyscheme.Scheme.Convert(&inner, kept, nil))
	return kept, wrong
}

func TestTheAPIServerAcceptsTheJob(t *testing.T) {
	if _, wrong := accept(t, manifest(t)); len(wrong) != 0 {
		t.Error(wrong)
	}
	for _, change := range [][3]string{
		{"restartPolicy: Never", "restartPolicy: OnFailure", "spec.template.spec.restartPolicy"},
		{"  completionMode: Indexed", "  completionMode: NonIndexed", "spec.backoffLimitPerIndex"},
		{"containerName: im2rec", "containerName: other", "containerName"},
		{"completions: 16", "completions: -1", "spec.completions"},
		{"cpu: 4, memory: 2Gi", "cpu: 4, memory: 4Gi", "must be less than or equal to memory limit"},
		{"name: im2rec-s3", "name: im2rec_s3", "secretRef.name"},
	} {
		text := strings.Replace(manifest(t), change[0], change[1], 1)
		if _, wrong := accept(t, text); text == manifest(t) || !strings.Contains(fmt.Sprint(wrong), change[2]) {
			t.Errorf("%s: %v", change[1], wrong)
		}
	}
}

// ---- the Job controller, and a kubelet ------------------------------------------------------

// A cluster has Kubernetes' Job controller; objects live in memory, and pods are processes of this machine.
type cluster struct {
	clienttesting.ObjectTracker
	t       *testing.T
	at      place
	client  *fake.Clientset
	version atomic.Int64
	lock    sync.Mutex
	started map[string]*exec.Cmd // by the pod's name
	pods    []*corev1.Pod        // in the order in which they were made
	ended   sync.WaitGroup
	stop    context.CancelFunc
	evicted bool // what fails has been evicted
}

func startCluster(t *testing.T, at place, job *batchv1.Job, evicted bool) *cluster {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	c := &cluster{t: t, at: at, client: fake.NewClientset(job), started: map[string]*exec.Cmd{}, stop: stop, evicted: evicted}
	c.ObjectTracker = c.client.Tracker()
	c.client.PrependReactor("*", "*", clienttesting.ObjectReaction(c))
	factory := informers.NewSharedInformerFactory(clientset.Interface(c.client), 0)
	jobs, err := controller.NewController(ctx, factory.Core().V1().Pods(), factory.Batch().V1().Jobs(), c.client)
	must(t, err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go jobs.Run(ctx, 1)
	go c.kubelet(ctx)
	return c
}

// number gives an object a new version, as an API server does: the controller overlooks an update without.
func (c *cluster) number(object runtime.Object) runtime.Object {
	found, err := meta.Accessor(object)
	must(c.t, err)
	found.SetResourceVersion(strconv.FormatInt(c.version.Add(1), 10))
	return object
}

func (c *cluster) Create(kind schema.GroupVersionResource, object runtime.Object, space string, o ...metav1.CreateOptions) error {
	pod, ok := object.(*corev1.Pod)
	c.number(object)
	if !ok {
		return c.ObjectTracker.Create(kind, object, space, o...)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	pod.Namespace, pod.Name = space, fmt.Sprintf("%s%d", pod.GenerateName, len(c.pods))
	pod.UID, pod.CreationTimestamp = types.UID(pod.Name), metav1.Now()
	if err := c.ObjectTracker.Create(kind, pod, space, o...); err != nil {
		return err
	}
	c.pods = append(c.pods, pod.DeepCopy())
	return nil
}

func (c *cluster) Update(kind schema.GroupVersionResource, object runtime.Object, space string, o ...metav1.UpdateOptions) error {
	return c.ObjectTracker.Update(kind, c.number(object), space, o...)
}

func (c *cluster) Patch(kind schema.GroupVersionResource, object runtime.Object, space string, o ...metav1.PatchOptions) error {
	return c.ObjectTracker.Patch(kind, c.number(object), space, o...)
}

// kubelet starts the pods that are made.
func (c *cluster) kubelet(ctx context.Context) {
	for ctx.Err() == nil {
		c.lock.Lock()
		for _, pod := range c.pods[len(c.started):] {
			run := commandOf(c.t, pod, c.at)
			c.started[pod.Name] = run
			if err := run.Start(); err != nil {
				c.t.Error(err)
				continue
			}
			c.ended.Go(func() { c.report(ctx, pod, run) })
		}
		c.lock.Unlock()
		time.Sleep(5 * time.Millisecond)
	}
}

// report tells the API server how a pod has ended.
func (c *cluster) report(ctx context.Context, pod *corev1.Pod, run *exec.Cmd) {
	_ = run.Wait()
	if ctx.Err() != nil {
		return
	}
	code := int32(run.ProcessState.ExitCode())
	if status := run.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		code = 128 + int32(status.Signal())
	}
	pods := c.client.CoreV1().Pods(pod.Namespace)
	now, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		c.t.Error(err)
		return
	}
	now.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		now.Status.Phase = corev1.PodFailed
	}
	if c.evicted {
		now.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	}
	now.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Now()}}}}
	if _, err := pods.UpdateStatus(ctx, now, metav1.UpdateOptions{}); err != nil {
		c.t.Error(err)
	}
}

// killAll ends the cluster, and with it all pods.
func (c *cluster) killAll() {
	c.lock.Lock()
	c.stop()
	for _, run := range c.started {
		_ = run.Process.Kill()
	}
	c.lock.Unlock()
	c.ended.Wait()
}

// podsOf are those made for an index.
func (c *cluster) podsOf(index int) []*corev1.Pod {
	c.lock.Lock()
	defer c.lock.Unlock()
	return slices.DeleteFunc(slices.Clone(c.pods), func(pod *corev1.Pod) bool {
		return pod.Labels[batchv1.JobCompletionIndexAnnotation] != fmt.Sprint(index)
	})
}

// end waits for the end of the Job: Complete, or Failed and why.
func (c *cluster) end(job *batchv1.Job) string {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		now, err := c.client.BatchV1().Jobs(job.Namespace).Get(context.Background(), job.Name, metav1.GetOptions{})
		must(c.t, err)
		for _, condition := range now.Status.Conditions {
			if condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed {
				return fmt.Sprintf("%s, succeeded %d, failed %d %s", condition.Type, now.Status.Succeeded, now.Status.Failed, condition.Reason)
			}
		}
	}
	c.t.Fatal("the Job does not end")
	return ""
}

func TestPodsAreWhatTheControllerMakes(t *testing.T) {
	job, wrong := accept(t, manifest(t))
	if len(wrong) != 0 {
		t.Fatal(wrong)
	}
	c := startCluster(t, files(t.TempDir()), job, false)
	defer c.stop()
	// There is no plan: all pods fail, each index four times.
	if got, want := c.end(job), "Failed, succeeded 0, failed 64 FailedIndexes"; got != want {
		t.Error(got)
	}
	for _, index := range indexesOf(job) {
		want, got := podOf(job, index), c.podsOf(index)
		if len(got) != 4 {
			t.Fatalf("%d pods of index %d", len(got), index)
		}
		container := got[0].Spec.Containers[0]
		if !reflect.DeepEqual(container, want.Spec.Containers[0]) {
			t.Errorf("index %d: %v, not %v", index, container, want.Spec.Containers[0])
		}
		value, err := fieldpath.ExtractFieldPathAsString(got[0], container.Env[0].ValueFrom.FieldRef.FieldPath)
		if err != nil || value != fmt.Sprint(index) {
			t.Errorf("index %d is %s, %v", index, value, err)
		}
	}
}

func TestWrongUsageEndsTheJob(t *testing.T) {
	text := strings.NewReplacer("completions: 16", "completions: 17", "parallelism: 16", "parallelism: 17").Replace(manifest(t))
	job, _ := accept(t, text)
	begin := time.Now()
	c := startCluster(t, files(t.TempDir()), job, false)
	defer c.stop()
	if got := c.end(job); !strings.HasPrefix(got, "Failed") || !strings.HasSuffix(got, "PodFailurePolicy") || time.Since(begin) > 9*time.Second {
		t.Error(got, time.Since(begin)) // a pod that fails would be run again after 10 s
	}
}

func TestCommandsAreExpandedAsByAKubelet(t *testing.T) {
	variables := map[string]string{"A": "1", "B": "$(A)"}
	for _, word := range append(slices.Collect(maps.Values(variables)), "$(A)/16", "$$(A)", "$$$(A)", "$(C)", "$A", "$(A", "a$", "$") {
		if got, want := expand(word, variables), expansion.Expand(word, expansion.MappingFuncFor(variables)); got != want {
			t.Errorf("%s: %s, of a kubelet %s", word, got, want)
		}
	}
}

// process is that of the first pod of an index, when it runs.
func (c *cluster) process(index int) *exec.Cmd {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if pods := c.podsOf(index); len(pods) != 0 {
			c.lock.Lock()
			run := c.started[pods[0].Name]
			c.lock.Unlock()
			if run != nil {
				return run
			}
		}
	}
	c.t.Fatalf("no pod of index %d", index)
	return nil
}

func TestTheControllerRunsAKilledIndexAgain(t *testing.T) {
	const options, index = "--resize 1200 --quality 80 --shards 64", 5
	job, _ := accept(t, manifest(t))
	container, pods := &job.Spec.Template.Spec.Containers[0], int(*job.Spec.Completions)
	want := setOf(t, options)
	inEach(t, "controlled", func(t *testing.T, at place) {
		if said, err := at.shell("im2rec --plan " + container.Command[2] + " " + options + " " + bucket + "/photos " + bucket + "/train.rec"); err != nil {
			t.Fatal(err, said)
		}
		c := startCluster(t, at, job, false)
		killInMidTask(t, c.process(index), at.plan(container), index, pods)
		c.killAll()
		c = startCluster(t, at, job, false) // as after kubectl delete and create
		defer c.stop()
		killInMidTask(t, c.process(index), at.plan(container), index, pods)
		if got := c.end(job); got != fmt.Sprintf("Complete, succeeded %d, failed 1 CompletionsReached", pods) {
			t.Error(got)
		}
		if n := len(c.podsOf(index)); n != 2 {
			t.Errorf("%d pods of the killed index", n)
		}
		if said, err := at.shell("im2rec --finish " + container.Command[2]); err != nil {
			t.Fatal(err, said)
		}
		compare(t, filesOf(t, at.folder), want)
	})
}

func TestAnEvictedPodIsNotCounted(t *testing.T) {
	job, _ := accept(t, manifest(t))
	c := startCluster(t, files(t.TempDir()), job, true)
	defer c.stop() // all pods fail: there is no plan
	for end := time.Now().Add(2 * time.Minute); len(c.podsOf(0)) < 3; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no new pods")
		}
	}
	now, err := c.client.BatchV1().Jobs(job.Namespace).Get(context.Background(), job.Name, metav1.GetOptions{})
	must(t, err)
	if now.Status.Failed != 0 || len(now.Status.Conditions) != 0 {
		t.Errorf("%d pods count as failed, %v", now.Status.Failed, now.Status.Conditions)
	}
}
