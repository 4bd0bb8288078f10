/** Hands values from one loop to another, one at a time: whoever puts one waits until the one before it was taken. */
export class Handover<T> implements AsyncIterable<T> {
  private value: { readonly it: T } | null = null;
  private isOver = false;
  private changed: () => void = () => undefined;
  private change = this.nextChange();

  async put(it: T): Promise<void> {
    while (this.value !== null && !this.isOver) await this.change;
    if (this.isOver) return;
    this.value = { it };
    this.tell();
  }

  /** What was put is still taken. */
  end(): void {
    this.isOver = true;
    this.tell();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      if (this.value !== null) {
        const { it } = this.value;
        this.value = null;
        this.tell();
        yield it;
      } else if (this.isOver) return;
      else await this.change;
    }
  }

  private tell(): void {
    const { changed } = this;
    this.change = this.nextChange();
    changed();
  }

  private nextChange(): Promise<void> {
    return new Promise((resolve) => (this.changed = resolve));
  }
}
