import { Pool } from 'undici';
import { signed, type Credentials } from './sign.js';

/** Signed GETs over a few keep-alive connections, for bodies too large for the load generator. */
export class Fetcher {
  private readonly pool: Pool;

  constructor(
    baseUrl: string,
    private readonly who: Credentials,
    private readonly connections: number,
  ) {
    this.pool = new Pool(baseUrl, { connections, pipelining: 1 });
  }

  /** The body of one GET. Throws on any status but 200. */
  async get(path: string): Promise<string> {
    return Buffer.from(await this.bytes(path)).toString();
  }

  /** Reads all paths, each connection the next one when its last was done. Sum of the bodies' bytes. */
  async getAll(paths: readonly string[]): Promise<number> {
    let next = 0;
    const sums = await Promise.all(
      Array.from({ length: this.connections }, async () => {
        let sum = 0;
        while (next < paths.length) {
          const path = paths[next]!;
          next += 1;
          const { byteLength } = await this.bytes(path);
          sum += byteLength;
        }
        return sum;
      }),
    );
    return sums.reduce((a, b) => a + b, 0);
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  private async bytes(path: string): Promise<ArrayBuffer> {
    const { headers } = signed(this.who, 'GET', path);
    const response = await this.pool.request({ method: 'GET', path, headers: { ...headers } });
    if (response.statusCode !== 200)
      throw new Error(`GET ${path}: ${response.statusCode} ${(await response.body.text()).slice(0, 300)}`);
    return response.body.arrayBuffer();
  }
}
