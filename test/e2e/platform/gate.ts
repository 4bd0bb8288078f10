export class Gate {
  private opened: Promise<void> = Promise.resolve();
  private letThrough: () => void = () => undefined;
  private arrived: () => void = () => undefined;
  reached: Promise<void> = Promise.resolve();

  shut(): void {
    this.opened = new Promise((resolve) => (this.letThrough = resolve));
    this.reached = new Promise((resolve) => (this.arrived = resolve));
  }

  open(): void {
    this.letThrough();
  }

  async passed(): Promise<void> {
    this.arrived();
    await this.opened;
  }
}
