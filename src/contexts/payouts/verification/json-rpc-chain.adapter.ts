import { Inject, Injectable, Logger, Optional, type OnApplicationShutdown } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { chainRules } from '../../../platform/chain/chain-rules.js';
import { NodeLimited } from '../../../platform/chain/values.js';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { urlsIn } from '../../../platform/config/settings.js';
import { ProcessFacts, type ChainNodeState } from '../../../platform/telemetry/process-facts.js';
import {
  ChainUnavailable,
  type ChainObservation,
  type ChainReader,
  type TransactionRequest,
} from './chain.ports.js';
import { nodeHeadAge, nodeUp } from '../payouts.metrics.js';
import { ChainNode } from './chain-node.adapter.js';

/** The {@link ChainReader} over the JSON-RPC nodes of CHAIN_RPC_URL, with failover. */
@Injectable()
export class JsonRpcChain implements ChainReader, OnApplicationShutdown {
  private readonly logger = new Logger(JsonRpcChain.name);
  private readonly nodes: readonly ChainNode[];
  /** The index of the node that was reliable last. */
  private current = 0;
  private isTokenRight = false;

  constructor(
    @Inject(chainConfig.KEY) private readonly config: ChainConfig,
    @Inject(CLOCK) clock: Clock,
    @Optional() facts?: ProcessFacts,
  ) {
    const { chainRpcUrl, chainId, usdcAddress } = config;
    const options = { chainId, token: usdcAddress ?? '', ...chainRules(config) };
    const urls = chainRpcUrl === null ? [] : urlsIn(chainRpcUrl);
    this.nodes = urls.map((url) => new ChainNode({ url, ...options }, clock));
    if (urls.length > 0) facts?.register('nodes', () => this.readFacts());
  }

  async checkToken(): Promise<string | null> {
    if (this.isTokenRight || this.config.usdcAddress === null) return null;
    const { symbol, problem } = await this.first((node) => node.token());
    this.isTokenRight = problem === null;
    if (problem === null && !/USD/i.test(symbol))
      this.logger.warn({ msg: 'the token of USDC_ADDRESS has another symbol', symbol });
    return problem;
  }

  async read(
    requested: readonly TransactionRequest[],
    { separately = false } = {},
  ): Promise<ChainObservation> {
    await this.requireToken();
    return this.first((node) => node.read(requested, separately));
  }

  async confirm(
    requested: readonly TransactionRequest[],
    { separately = false } = {},
  ): Promise<readonly ChainObservation[]> {
    await this.requireToken();
    return this.quorum((node) => node.confirm(requested, separately));
  }

  async ping(): Promise<void> {
    await this.requireToken();
    await this.quorum((node) => node.ping());
  }

  onApplicationShutdown(): void {
    for (const node of this.nodes) void node.close().catch(() => undefined);
  }

  private async readFacts(): Promise<readonly ChainNodeState[]> {
    const all = await Promise.all(this.nodes.map((node) => node.facts()));
    all.forEach(({ url_host: host, status, head_age_seconds: age }, place) => {
      const labels = { node: String(place + 1), host };
      nodeUp.set(labels, status === 'ok' ? 1 : 0);
      if (age !== null) nodeHeadAge.set(labels, age);
    });
    return all;
  }

  private async requireToken(): Promise<void> {
    const problem = await this.checkToken();
    if (problem !== null) throw new ChainUnavailable(problem);
  }

  /** Calls the last reliable node, then the others in order while they throw {@link ChainUnavailable}. */
  private async first<T>(ask: (node: ChainNode) => Promise<T>): Promise<T> {
    const { nodes, current: from } = this;
    if (nodes.length === 0) throw new ChainUnavailable('no node is configured');
    for (let n = 0; ; n += 1) {
      const place = (from + n) % nodes.length;
      try {
        const result = await ask(nodes[place]!);
        this.current = place;
        return result;
      } catch (error) {
        if (!(error instanceof ChainUnavailable) || n === nodes.length - 1) throw error;
        const { message: reason } = error;
        this.logger.warn({ msg: 'chain node unavailable: next one used', node: place + 1, reason });
      }
    }
  }

  private async quorum<T>(ask: (node: ChainNode) => Promise<T>): Promise<readonly T[]> {
    const { chainQuorum } = this.config;
    if (chainQuorum === 1) return [await this.first(ask)];
    const results = await Promise.allSettled(this.nodes.map(ask));
    const usable = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    if (usable.length >= chainQuorum) return usable;
    const errors = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
    const Unavailable = errors.some((each) => each instanceof NodeLimited) ? NodeLimited : ChainUnavailable;
    const why = errors.map(({ message }) => message).join(', ');
    throw new Unavailable(
      `reliable nodes: ${usable.length}, expected at least CHAIN_QUORUM=${chainQuorum} (${why})`,
    );
  }
}
