/*
 * What is followed has a form. Follows k8s.io/kubernetes pkg/scheduler, func Inside.
 *
 * Follows k8s.io/kubernetes/pkg/scheduler/scheduler.go: New.
 * Follows k8s.io/kubernetes pkg/scheduler, func New and others.
 * Follows k8s.io/kubernetes pkg/scheduler, func (*Scheduler) Run
 *
 * Follows std time, ParseDuration.
 */
