import { Interface, JsonRpcProvider, NonceManager, Wallet } from 'ethers';
import { FUNDED } from '../../sandbox/usdc.js';
import { MIGRATIONS, readConfig } from '../../src/composition.js';
import { DepositScanner } from '../../src/contexts/exchange/adapters/sandbox/deposit-scanner.js';
import { Deposits } from '../../src/contexts/exchange/store/deposits.js';
import { SandboxOrders } from '../../src/contexts/exchange/store/sandbox-orders.js';
import { ScanCursors } from '../../src/contexts/exchange/store/scan-cursors.js';
import { systemClock } from '../../src/kernel/clock.js';
import { Database } from '../../src/platform/postgres/database.js';
import { compare } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import type { Chain } from '../support/environment.js';

const CHAIN_ID = 31337;
/** Blocks of one scan, transfers in each, and every how many of them is one of ours. */
const BLOCKS = 50;
const PER_BLOCK = 20;
const EVERY = 10;
const FEW = 1000;
/** Scans of one turn, and turns of a variant within a round. */
const SCANS = 5;
const SLICES = 4;

const TRANSFER = new Interface(['function transfer(address to, uint256 amount)']);

/** One scan of the chain for deposits, with few deposit addresses and with very many. */
export const exchangeScanRow: Row = {
  name: 'exchange-scan',
  title: 'one scan for deposits, as deposit addresses grow',
  run: runExchangeScan,
};

async function runExchangeScan(context: RowContext): Promise<RowOutcome> {
  const { environment, options, progress } = context;
  progress('transfers on the chain');
  const chain = await environment.chain();
  const before = await makeTransfers(chain);
  const sizes = { few: FEW, many: options.addresses };
  const stages = await Promise.all(
    Object.entries(sizes).map(async ([name, count]) => {
      progress(`${count} addresses`);
      const url = await environment.database(`scan_${name}`);
      const database = await Database.connect({ url, poolSize: 4, migrations: MIGRATIONS });
      await seedAddresses(database, count);
      return { name, database, scanner: scannerOf(database, chain) };
    }),
  );
  try {
    await environment.checkpoint();
    const variants = stages.map(({ name, database, scanner }): Variant => {
      return {
        name,
        run: async () => {
          let seconds = 0;
          for (let scan = 0; scan < SCANS; scan += 1) {
            await setBack(database, before);
            const start = performance.now();
            await scanner.work.options.run(new AbortController().signal);
            seconds += (performance.now() - start) / 1000;
          }
          const [row] = await database.query<{ count: string }>('select count(*) from exchange.deposits');
          context.checks.equal(`${name}: deposits found`, Number(row!.count), (BLOCKS * PER_BLOCK) / EVERY);
          return { units: SCANS, seconds };
        },
      };
    });
    const samples = await alternate(variants, options.rounds, progress, SLICES);
    const per = samples.get('many')!.map(({ units, seconds }) => (seconds / units) * 1000);
    return {
      comparisons: [
        compare(samples, {
          label: `${options.addresses} addresses beside ${FEW}`,
          subject: 'many',
          reference: 'few',
          goal: { atMost: 1.5 },
        }),
      ],
      notes: [
        `a scan reads ${BLOCKS} blocks with ${BLOCKS * PER_BLOCK} transfers from a dev chain, ${(BLOCKS * PER_BLOCK) / EVERY} of them deposits, and stores them: ${Math.min(...per).toFixed(0)} to ${Math.max(...per).toFixed(0)} ms`,
      ],
    };
  } finally {
    for (const { database, scanner } of stages) {
      scanner.onApplicationShutdown();
      await database.close();
    }
  }
}

function scannerOf(database: Database, { rpcUrl, usdcAddress }: Chain): DepositScanner {
  const config = readConfig({ CHAIN_RPC_URL: rpcUrl, USDC_ADDRESS: usdcAddress });
  const cursors = new ScanCursors(database);
  return new DepositScanner(
    config,
    systemClock,
    cursors,
    new Deposits(database),
    new SandboxOrders(database),
  );
}

/** The n-th address, the same in every database; no key belongs to it. */
function addressAt(n: number): string {
  return `0x${'5ca9'}${n.toString(16).padStart(36, '0')}`;
}

/** Gives back the block before the first of them. */
async function makeTransfers(chain: Chain): Promise<{ readonly number: number; readonly hash: string }> {
  const provider = new JsonRpcProvider(chain.rpcUrl, CHAIN_ID, { staticNetwork: true, cacheTimeout: -1 });
  try {
    const sender = new NonceManager(new Wallet(FUNDED.privateKey, provider));
    const { number, hash } = (await provider.getBlock('latest'))!;
    await provider.send('evm_setAutomine', [false]);
    for (let block = 0; block < BLOCKS; block += 1) {
      for (let n = 0; n < PER_BLOCK; n += 1) {
        const place = block * PER_BLOCK + n;
        const to = place % EVERY === 0 ? addressAt(place / EVERY) : Wallet.createRandom().address;
        const data = TRANSFER.encodeFunctionData('transfer', [to, 5_000_000n]);
        await sender.sendTransaction({ to: chain.usdcAddress, data, gasLimit: 100_000n });
      }
      await provider.send('evm_mine', []);
    }
    await provider.send('evm_setAutomine', [true]);
    return { number, hash: hash! };
  } finally {
    provider.destroy();
  }
}

/** Those that are paid to, and as many more as were asked for, in no order. */
async function seedAddresses(database: Database, count: number): Promise<void> {
  await database.query(
    `insert into exchange.sandbox_orders (order_id, address_index, deposit_address, pair_id, amount_from, amount_to,
       rate, minimum, maximum, expires_at)
     select gen_random_uuid(), n, case when n < $2 then '0x5ca9' || lpad(to_hex(n), 36, '0')
       else '0x' || left(encode(sha256(n::text::bytea), 'hex'), 40) end, 'USDCSOL', '100', '0.5', '0.005', '5', '5000', now()
     from generate_series(0, $1::integer - 1) n order by random()`,
    [count, (BLOCKS * PER_BLOCK) / EVERY],
  );
  await database.query('vacuum analyze exchange.sandbox_orders');
}

async function setBack(
  database: Database,
  { number, hash }: { readonly number: number; readonly hash: string },
): Promise<void> {
  await database.query('truncate exchange.deposits, exchange.scan_cursors, exchange.scanned_blocks');
  await new ScanCursors(database).start(CHAIN_ID, { number, hash });
}
