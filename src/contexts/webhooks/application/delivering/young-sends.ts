import type { Slot } from './send-slots.js';

/**
 * The sends that began a moment ago and have no answer yet, oldest first. There is a limit to them; one that grows older
 * than `youngMs` stops counting, so that what hangs gives its place up by itself.
 */
export class YoungSends {
  private readonly slots = new Set<Slot>();

  constructor(
    private readonly most: number,
    private readonly youngMs: number,
    /** Told of each that is young no longer and has no answer yet. */
    private readonly outgrown: (slot: Slot) => void,
  ) {}

  /** Whether there was no room when ages were looked at last. */
  isFull(): boolean {
    return this.slots.size >= this.most;
  }

  /** Whether there is room for one more now. Looks at ages only when there is none otherwise. */
  hasRoom(): boolean {
    if (this.isFull()) this.forgetOld();
    return !this.isFull();
  }

  add(slot: Slot): void {
    this.slots.add(slot);
  }

  /** False when it has outgrown already. */
  remove(slot: Slot): boolean {
    return this.slots.delete(slot);
  }

  /** Whole milliseconds until the oldest outgrows. */
  nextIn(): number {
    const [oldest] = this.slots;
    return oldest === undefined
      ? this.youngMs
      : Math.max(1, Math.ceil(oldest.began + this.youngMs - performance.now()));
  }

  private forgetOld(): void {
    const before = performance.now() - this.youngMs;
    for (const slot of this.slots) {
      if (slot.began > before) break;
      this.slots.delete(slot);
      this.outgrown(slot);
    }
  }
}
