/** What telemetry learns of commits. */
interface CommitObserver {
  /** One call to the store: how long it took, and how many units of work it carried. */
  onCommit(durationMs: number, units: number): void;
  /** A command was decided again because a stream of this category had moved on. */
  onConflict(category: string): void;
}

/** Where a {@link CommitObserver} registers; notifies all of them. */
export class CommitObservers implements CommitObserver {
  private readonly observers: CommitObserver[] = [];

  add(observer: CommitObserver): void {
    this.observers.push(observer);
  }

  onCommit(durationMs: number, units: number): void {
    for (const observer of this.observers) observer.onCommit(durationMs, units);
  }

  onConflict(category: string): void {
    for (const observer of this.observers) observer.onConflict(category);
  }
}
