/** Holds up whoever passes while it is shut. */
export class Gate {
  private opened: Promise<void> = Promise.resolve();
  private letThrough: () => void = () => undefined;
  private arrived: () => void = () => undefined;
  somebodyWaits: Promise<void> = Promise.resolve();

  shut(): void {
    this.opened = new Promise((resolve) => (this.letThrough = resolve));
    this.somebodyWaits = new Promise((resolve) => (this.arrived = resolve));
  }

  open(): void {
    this.letThrough();
  }

  async passed(): Promise<void> {
    this.arrived();
    await this.opened;
  }
}
