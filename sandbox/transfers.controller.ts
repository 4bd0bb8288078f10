import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { DomainError } from '../src/kernel/domain-error.js';
import { isAmount, toMinorUnits } from '../src/kernel/money.js';
import { requireObject } from '../src/platform/http/validation.js';
import { Treasury } from './treasury.js';

/** The most one transfer may send, in USDC: far over any payout, so that refusals of a payout can be tried too. */
const MAX_AMOUNT = 1_000_000n;

const AMOUNT_RULE = `must be a decimal string, more than 0 and at most ${MAX_AMOUNT}, with up to 6 decimals`;

/** `POST /merchants/v1/sandbox/transfers`: the merchant's own on-chain transfer, for those who have no wallet at hand. */
@Controller('merchants/v1/sandbox/transfers')
export class TransfersController {
  constructor(private readonly treasury: Treasury) {}

  @Post()
  @HttpCode(201)
  async create(@Body() body: unknown): Promise<{ transaction_hash: string }> {
    const { to, amount } = await validTransfer(body);
    return { transaction_hash: await this.treasury.transfer(to, amount) };
  }
}

async function validTransfer(body: unknown): Promise<{ to: string; amount: bigint }> {
  const { to, amount } = requireObject(body);
  const address = await addressOf(to);
  const minor = isAmount(amount) ? toMinorUnits(amount) : null;
  const inRange = minor !== null && minor > 0n && minor <= MAX_AMOUNT * 1_000_000n;
  if (address !== null && inRange) return { to: address, amount: minor };
  throw DomainError.invalid({
    ...(address === null ? { to: [needed(to, 'must be an address of 40 hexadecimal digits after 0x')] } : {}),
    ...(inRange ? {} : { amount: [needed(amount, AMOUNT_RULE)] }),
  });
}

function needed(value: unknown, otherwise: string): string {
  return value === undefined || value === null ? 'is required' : otherwise;
}

/** Checksummed; null for anything that is no address, a wrong checksum included. */
async function addressOf(value: unknown): Promise<string | null> {
  if (typeof value !== 'string' || !value.startsWith('0x')) return null;
  const { getAddress } = await import('ethers');
  try {
    return getAddress(value);
  } catch {
    return null;
  }
}
