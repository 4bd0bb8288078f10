import { Inject, Injectable } from '@nestjs/common';
import { Fault } from '../../../kernel/fault.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isAmount, toMinorUnits } from '../../../kernel/money.js';
import { ChainUnavailable } from '../../../platform/chain/values.js';
import {
  agreeing,
  CHAIN_READER,
  type ChainObservation,
  type ChainReader,
} from '../../payouts/payouts.contract.js';
import { plainHash, readEvmAddress } from './addresses.js';
import { allDeposits, transitionError, type ExistingOrder } from './order.js';
import type { DepositFacts } from './order-events.js';
import { CHAIN_IDS, toCurrency, pairOf } from '../tokens/catalog.js';
import { DEV_CHAIN_ID } from '../exchange.config.js';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';

/** The number of newest deposits whose payers are read. */
const MAX_DEPOSITS = 100;

export interface RefundCheck {
  /** The reason why the transfer was not checked (no node of its chain); null if it was checked. */
  readonly unchecked: string | null;
  /** The log indexes of the transfers that may be this refund; at least one when it was checked. */
  readonly logIndexes: readonly number[];
}

/** The state of a recorded deposit on the chain; `why` is null for `on_chain`. */
export interface DepositCheck {
  readonly deposit_id: string;
  readonly found: 'on_chain' | 'missing' | 'unknown';
  readonly why: string | null;
}

/** Checks USDC refunds and deposits on the chain of CHAIN_RPC_URL, in final blocks, by CHAIN_QUORUM nodes. */
@Injectable()
export class OrderTransfers {
  constructor(
    @Inject(chainConfig.KEY) private readonly config: ChainConfig,
    @Inject(CHAIN_READER) private readonly chain: Pick<ChainReader, 'confirm'>,
  ) {}

  /**
   * Finds the transfers of a refund; a null `recipient` means any payer of the order. Throws `unavailable`
   * while the block is not final or nodes do not respond, `invalid_transition` if no transfer matches.
   */
  async checkRefund(
    order: ExistingOrder,
    refund: Readonly<Record<'amount' | 'transaction_hash', string>> & { readonly recipient: string | null },
  ): Promise<RefundCheck> {
    const { amount, transaction_hash: hash, recipient } = refund;
    const { pair_id } = order;
    const payable = recipient === null ? null : readEvmAddress(recipient, this.config.usdcAddress);
    if (payable instanceof Fault) throw DomainError.invalid({ recipient: [payable.message] });
    if (!this.isOnChain(order)) {
      const unchecked = `no node is configured for ${toCurrency(pair_id)}: the transfer was not checked`;
      return { unchecked, logIndexes: [] };
    }
    if (!isAmount(amount)) throw transitionError('USDC has at most 6 decimals');
    const recipients = recipient === null ? await this.payers(order) : [recipient.toLowerCase()];
    const responses = (await this.read([hash], recipients))(hash);
    if (responses.length === 0)
      throw new DomainError('unavailable', 'The nodes do not agree on the transaction: try again');
    const { receipt } = responses[0]!;
    if (receipt === null || !receipt.succeeded)
      throw transitionError('The chain has no such transaction, or it failed');
    // A partial receipt lacks log indexes, so one transfer could be recorded twice.
    if (receipt.partial) throw transitionError('The receipt of the transaction is too large for the node');
    if (!this.isFinal(responses))
      throw new DomainError(
        'unavailable',
        'The block of the transaction is not final yet: try again in some minutes',
      );
    const minor = toMinorUnits(amount);
    const logIndexes = this.ofToken(receipt)
      .filter(({ to, amountMinor }) => amountMinor === minor && recipients.includes(to))
      .map(({ logIndex }) => logIndex);
    if (logIndexes.length === 0)
      throw transitionError(
        `The transaction holds no transfer of ${amount} ${toCurrency(pair_id)} to ${recipient ?? 'an address that paid the order (name another one with --to)'}`,
      );
    return { unchecked: null, logIndexes };
  }

  /** Checks recorded deposits (`unknown` for too few responses). Returns null without a node of the chain. */
  async checkDeposits(order: ExistingOrder): Promise<readonly DepositCheck[] | null> {
    const deposits = allDeposits(order);
    if (deposits.length === 0) return [];
    if (!this.isOnChain(order)) return null;
    const to = order.deposit_address.toLowerCase();
    let outage = 'the nodes sent no usable response, or disagree';
    const agreed = await this.read(deposits.map(toHash), [to]).catch((error: unknown) => {
      if (!(error instanceof DomainError) || error.code !== 'unavailable') throw error;
      outage = error.message;
      return () => [];
    });
    const claimed = new Set<Receipt['transfers'][number]>();
    return deposits.map((deposit) => {
      const hash = toHash(deposit);
      const { deposit_id, amount } = deposit;
      const result = (found: DepositCheck['found'], why: string | null) => ({ deposit_id, found, why });
      const responses = agreed(hash);
      if (responses.length === 0) return result('unknown', outage);
      const { receipt } = responses[0]!;
      if (receipt !== null && !this.isFinal(responses))
        return result('unknown', `its block ${receipt.blockNumber} is not final`);
      const at = Date.parse(deposit.deposited_at) / 1000;
      if (receipt === null && !this.isQuorum(responses, ({ final }) => final.timestamp >= at))
        return result('unknown', 'the newest final block of a node is older than the deposit');
      if (receipt === null || !receipt.succeeded)
        return result('missing', `transaction ${hash} is in no block, or it failed`);
      // One transfer proves only one deposit.
      const transfer = this.ofToken(receipt).find(
        (each) =>
          each.to === to &&
          !claimed.has(each) &&
          isAmount(amount) &&
          each.amountMinor === toMinorUnits(amount),
      );
      if (transfer === undefined)
        return result('missing', `transaction ${hash} holds no transfer of ${amount} to ${to}`);
      claimed.add(transfer);
      return result('on_chain', null);
    });
  }

  private isOnChain({ provider, pair_id }: ExistingOrder): boolean {
    const { chainId, chainRpcUrl, usdcAddress } = this.config;
    const { token, chain } = pairOf(pair_id)!.from;
    if (chainRpcUrl === null || usdcAddress === null || token !== 'usdc') return false;
    return chainId === DEV_CHAIN_ID ? provider === 'sandbox' : CHAIN_IDS[chain] === chainId;
  }

  private async payers(order: ExistingOrder): Promise<readonly string[]> {
    const hashes = [...new Set(allDeposits(order).slice(-MAX_DEPOSITS).map(toHash))];
    const to = order.deposit_address.toLowerCase();
    const agreed = await this.read(hashes, [to]);
    const responses = hashes.map((hash) => agreed(hash)[0]);
    if (responses.includes(undefined))
      throw new DomainError(
        'unavailable',
        'The nodes do not agree on who paid the order: try again, or name the recipient with --to',
      );
    return responses
      .flatMap((response) => this.ofToken(response?.receipt))
      .flatMap((transfer) => (transfer.to === to ? [transfer.from] : []));
  }

  private ofToken(receipt: Receipt | null | undefined): Receipt['transfers'] {
    const token = this.config.usdcAddress!.toLowerCase();
    return receipt?.transfers.filter((transfer) => transfer.token === token) ?? [];
  }

  /** Reads transactions. The returned function maps a hash to equal responses of CHAIN_QUORUM nodes. */
  private async read(hashes: readonly string[], wallets: readonly string[]) {
    const requests = [...new Set(hashes)].map((hash) => ({ hash, wallets }));
    const observations = await this.chain.confirm(requests, { separately: true }).catch((error: unknown) => {
      if (error instanceof ChainUnavailable) throw new DomainError('unavailable', error.message);
      throw error;
    });
    return (hash: string): readonly Response[] => {
      const responses = observations.flatMap(({ receipts, final }) => {
        const receipt = receipts.get(hash);
        return receipt === undefined ? [] : [{ receipt, final }];
      });
      return agreeing(responses, factsIn, this.config.chainQuorum);
    };
  }

  private isQuorum(responses: readonly Response[], holds: (response: Response) => boolean): boolean {
    return responses.filter(holds).length >= this.config.chainQuorum;
  }

  private isFinal(responses: readonly Response[]): boolean {
    return this.isQuorum(responses, ({ receipt, final }) => receipt!.blockNumber <= final.number);
  }
}

type Receipt = NonNullable<ReturnType<ChainObservation['receipts']['get']>>;

/** The response of one node, with its newest final block. */
interface Response extends Pick<ChainObservation, 'final'> {
  readonly receipt: Receipt | null;
}

/** Serializes a receipt for comparison, without the raw response, which differs by node. */
function factsIn({ receipt }: Response): string {
  const facts = receipt && { ...receipt, source: null };
  return JSON.stringify(facts, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

function toHash({ transaction_hash: hash }: Pick<DepositFacts, 'transaction_hash'>): string {
  return `0x${plainHash(hash)}`;
}
