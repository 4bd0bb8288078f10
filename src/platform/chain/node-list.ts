import { Logger } from '@nestjs/common';
import { ChainUnavailable } from './values.js';

/** Several nodes of one chain: one of them is used as long as it can be relied on, then the next. */
export class NodeList<Node extends { close(): Promise<void> }> {
  private readonly logger = new Logger(NodeList.name);
  private connected: readonly Node[] | null = null;
  private current = 0;

  constructor(
    private readonly urls: readonly string[],
    private readonly connect: (url: string) => Node,
  ) {}

  /** Throws {@link ChainUnavailable} when there is none. */
  all(): readonly Node[] {
    if (this.urls.length === 0) throw new ChainUnavailable('no node is configured');
    return (this.connected ??= this.urls.map((url) => this.connect(url)));
  }

  /** Calls the node that was relied on last, and the others one by one while they throw {@link ChainUnavailable}. */
  async first<T>(ask: (node: Node) => Promise<T>): Promise<T> {
    const nodes = this.all();
    const from = this.current;
    for (let n = 0; ; n += 1) {
      const place = (from + n) % nodes.length;
      try {
        const result = await ask(nodes[place]!);
        this.current = place;
        return result;
      } catch (error) {
        if (!(error instanceof ChainUnavailable) || n === nodes.length - 1) throw error;
        this.logger.warn({
          msg: 'chain node unavailable: next one used',
          node: place + 1,
          reason: error.message,
        });
      }
    }
  }

  close(): void {
    for (const node of this.connected ?? []) void node.close().catch(() => undefined);
    this.connected = null;
  }
}
