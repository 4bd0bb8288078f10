import { Controller, HttpCode, Post } from '@nestjs/common';
import { DomainError } from '../src/kernel/domain-error.js';
import { Fault } from '../src/kernel/fault.js';
import { isAmount, toMinorUnits } from '../src/kernel/money.js';
import { readEvmAddress } from '../src/contexts/exchange/orders/addresses.js';
import { ApiProperty, Field } from '../src/platform/dto/field.js';
import { asciiDigits } from '../src/kernel/typed-text.js';
import { text, USDC } from '../src/platform/dto/rules.js';
import { ValidBody } from '../src/platform/http/decorators.js';
import { ApiRoute } from '../src/platform/openapi/route.js';
import { Treasury } from './treasury.js';

/** The maximum of one transfer in USDC. It exceeds the limit of payouts, so that tests can exceed it too. */
const MAX_AMOUNT = 1_000_000n;

const AMOUNT_RULE = `must be a decimal string, more than 0 and at most ${MAX_AMOUNT}, with up to 6 decimals`;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

function readAmount(value: unknown): bigint | Fault {
  const amount = typeof value === 'string' ? asciiDigits(value) : value;
  const minor = isAmount(amount) ? toMinorUnits(amount) : 0n;
  return minor > 0n && minor <= MAX_AMOUNT * 1_000_000n ? minor : new Fault(AMOUNT_RULE);
}

class SandboxTransfer {
  @Field(text({ pattern: ADDRESS.source }, (to) => readEvmAddress(to)), {
    description: 'The receiving address.',
  })
  to!: string;

  /** The amount in minor units. */
  @Field(
    { schema: USDC, read: readAmount },
    { description: `USDC, more than 0 and at most ${MAX_AMOUNT}.`, examples: ['12.50'] },
  )
  amount!: bigint;
}

class SandboxTransferSent {
  @ApiProperty({ type: 'string', pattern: '^0x[0-9a-f]{64}$' })
  transaction_hash!: string;
}

/** `POST /merchants/v1/sandbox/transfers`: sends a merchant's transfer, so that no wallet is needed. */
@Controller('merchants/v1/sandbox/transfers')
export class TransfersController {
  constructor(private readonly treasury: Treasury) {}

  @Post()
  @HttpCode(201)
  @ApiRoute({
    id: 'createSandboxTransfer',
    tag: 'Sandbox',
    summary: 'Broadcast a transfer of test USDC',
    description:
      'Sends test USDC on the dev chain, as a merchant does before reporting a payout. Only in the sandbox.',
    responses: { 201: [SandboxTransferSent, 'The transfer was broadcast.'] },
  })
  async create(@ValidBody() { to, amount }: SandboxTransfer): Promise<SandboxTransferSent> {
    return { transaction_hash: await this.treasury.transfer(await checksummed(to), amount) };
  }
}

/** Returns the address with its checksum. Throws `validation_failed` for a wrong checksum. */
async function checksummed(address: string): Promise<string> {
  const { getAddress } = await import('ethers');
  try {
    return getAddress(address);
  } catch {
    throw DomainError.invalid({ to: ['must be an address with a right checksum'] });
  }
}
