import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { urlsIn } from '../../../platform/config/settings.js';
import {
  ChainUnavailable,
  type ChainLook,
  type ChainReader,
  type WantedTransaction,
} from '../application/ports.js';
import { chainRules } from '../domain/chain-rules.js';
import { ChainNode } from './chain-node.js';

type Settings = Pick<
  Config,
  'chainRpcUrl' | 'chainId' | 'usdcAddress' | 'chainQuorum' | 'chainMaxHeadAgeSeconds'
>;

/** {@link ChainReader} over JSON-RPC nodes: one of them as long as it can be relied on, then the next. */
@Injectable()
export class JsonRpcChain implements ChainReader, OnApplicationShutdown {
  private readonly logger = new Logger(JsonRpcChain.name);
  private connected: readonly ChainNode[] | null = null;
  private current = 0;

  constructor(
    @Inject(CONFIG) private readonly config: Settings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  look(wanted: readonly WantedTransaction[], { alone = false } = {}): Promise<ChainLook> {
    return this.first((node) => node.look(wanted, alone));
  }

  async confirm(wanted: readonly WantedTransaction[], { alone = false } = {}): Promise<readonly ChainLook[]> {
    const { chainQuorum } = this.config;
    if (chainQuorum === 1) return [await this.first((node) => node.confirm(wanted, alone))];
    const looks = await Promise.allSettled(this.nodes().map((node) => node.confirm(wanted, alone)));
    const usable = looks.flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []));
    if (usable.length >= chainQuorum) return usable;
    throw new ChainUnavailable(`${usable.length} nodes can be relied on, and outcomes need ${chainQuorum}`);
  }

  async ping(): Promise<void> {
    await this.first((node) => node.ping());
  }

  close(): void {
    for (const node of this.connected ?? []) void node.close().catch(() => undefined);
    this.connected = null;
  }

  onApplicationShutdown(): void {
    this.close();
  }

  /** Asks the node that was relied on last, and the others in turn while they cannot be relied on. */
  private async first<T>(ask: (node: ChainNode) => Promise<T>): Promise<T> {
    const nodes = this.nodes();
    const from = this.current;
    for (let n = 0; ; n += 1) {
      const place = (from + n) % nodes.length;
      try {
        const told = await ask(nodes[place]!);
        this.current = place;
        return told;
      } catch (error) {
        if (!(error instanceof ChainUnavailable) || n === nodes.length - 1) throw error;
        this.logger.warn({ msg: 'another node is asked', node: place + 1, reason: error.message });
      }
    }
  }

  private nodes(): readonly ChainNode[] {
    const { chainRpcUrl, chainId, usdcAddress } = this.config;
    if (chainRpcUrl === null) throw new ChainUnavailable('no node is configured');
    const { maxHeadAgeSeconds } = chainRules(this.config);
    const options = { chainId, token: usdcAddress ?? '', maxHeadAgeSeconds };
    this.connected ??= urlsIn(chainRpcUrl).map((url) => new ChainNode({ url, ...options }, this.clock));
    return this.connected;
  }
}
