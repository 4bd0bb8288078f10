import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { inWords } from './export-folder.js';

const GATHERED = 1 << 18;

/** Lines to a stream that others read, no faster than they do. Rejects in words once nobody reads any more. */
export class LineStream {
  private gathered = '';
  private failure: Error | null = null;

  constructor(
    private readonly stream: Writable,
    private readonly name: string,
  ) {
    stream.on('error', (error) => (this.failure = error));
  }

  async line(text: string): Promise<void> {
    this.gathered += `${text}\n`;
    if (this.gathered.length >= GATHERED) await this.flush();
  }

  async end(): Promise<void> {
    await this.flush();
    // What is written last has to arrive too.
    await new Promise<void>((resolve) => this.stream.write('', () => resolve()));
    if (this.failure !== null) throw inWords(this.failure, this.name);
  }

  private async flush(): Promise<void> {
    const text = this.gathered;
    this.gathered = '';
    if (this.failure === null && !this.stream.write(text)) {
      await Promise.race([once(this.stream, 'drain'), once(this.stream, 'close')]).catch(() => undefined);
    }
    if (this.failure !== null) throw inWords(this.failure, this.name);
  }
}
