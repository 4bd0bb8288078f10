interface Waiting<In, Out> {
  readonly input: In;
  readonly resolve: (output: Out) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Calls that arrive while one is under way go together in the next: a thousand lanes cost the database a few statements
 * instead of thousands. `run` answers in the order of its inputs; when it rejects, all of its calls do.
 */
export class GroupCall<In, Out> {
  private waiting: Waiting<In, Out>[] = [];
  private scheduled = false;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly run: (inputs: readonly In[]) => Promise<readonly Out[]>,
    private readonly most = 500,
  ) {}

  call(input: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, resolve, reject });
      this.schedule();
    });
  }

  /** Runs `work` while no call is under way. */
  between<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    void this.between(() => this.flush());
  }

  private async flush(): Promise<void> {
    this.scheduled = false;
    const batch = this.waiting.splice(0, this.most);
    if (this.waiting.length > 0) this.schedule();
    try {
      const outputs = await this.run(batch.map((each) => each.input));
      batch.forEach((each, index) => each.resolve(outputs[index]!));
    } catch (error) {
      for (const each of batch) each.reject(error);
    }
  }
}
