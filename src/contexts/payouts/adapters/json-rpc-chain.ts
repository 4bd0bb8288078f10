import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { NodeList } from '../../../platform/chain/node-list.js';
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
  private readonly nodes: NodeList<ChainNode>;

  constructor(
    @Inject(CONFIG) private readonly config: Settings,
    @Inject(CLOCK) clock: Clock,
  ) {
    const { chainRpcUrl, chainId, usdcAddress } = config;
    const { maxHeadAgeSeconds } = chainRules(config);
    const options = { chainId, token: usdcAddress ?? '', maxHeadAgeSeconds, sources: true };
    const urls = chainRpcUrl === null ? [] : urlsIn(chainRpcUrl);
    this.nodes = new NodeList(urls, (url) => new ChainNode({ url, ...options }, clock));
  }

  look(wanted: readonly WantedTransaction[], { alone = false } = {}): Promise<ChainLook> {
    return this.nodes.first((node) => node.look(wanted, alone));
  }

  async confirm(wanted: readonly WantedTransaction[], { alone = false } = {}): Promise<readonly ChainLook[]> {
    const { chainQuorum } = this.config;
    if (chainQuorum === 1) return [await this.nodes.first((node) => node.confirm(wanted, alone))];
    const looks = await Promise.allSettled(this.nodes.all().map((node) => node.confirm(wanted, alone)));
    const usable = looks.flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []));
    if (usable.length >= chainQuorum) return usable;
    throw new ChainUnavailable(`${usable.length} nodes can be relied on, and outcomes need ${chainQuorum}`);
  }

  async ping(): Promise<void> {
    await this.nodes.first((node) => node.ping());
  }

  close(): void {
    this.nodes.close();
  }

  onApplicationShutdown(): void {
    this.close();
  }
}
