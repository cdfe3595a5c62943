/*
 * Follows what others do, in other words.
 *
 * Follows k8s.io/kubernetes pkg/scheduler, func New, func (*Scheduler) Run,
 * type Scheduler.
 * Follows github.com/blang/semver/v4, func Parse.
 */
