import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';
import { bash, commandsOf } from '../../support/programs/guide.js';
import { receivedPayout } from '../../support/payouts/payout-calls.js';
import { specFolder } from '../../support/run-folder.js';
import { systemProgram } from '../../support/programs/system-program.js';

const CLI = fileURLToPath(new URL('../../../scripts/cli.mjs', import.meta.url));
const missing = ['bash', 'curl', 'grep'].filter((each) => systemProgram(each) === null);

(missing.length > 0 ? describe.skip : describe)('the commands of docs/auditing.md', () => {
  const app = onTestApp();

  it('lead from a balance to the chain, one after the other, pasted into a shell', async () => {
    const { user, payout } = await receivedPayout(app, '12.50');
    const settings = {
      USER_ID: user,
      PAYOUT_ID: payout.id,
      DATABASE_URL: app.config.databaseUrl!,
      MASTER_KEY: app.config.masterKey!,
      CHAIN_RPC_URL: app.config.chainRpcUrl!,
      USDC_ADDRESS: app.config.usdcAddress!,
    };
    const prelude = [
      ...Object.entries(settings).map(([name, value]) => `export ${name}='${value}'`),
      // In the folder of the clone `npm run -s NAME -- ...` runs this program.
      `npm() { local name=$3; shift 4; node '${CLI}' "$name" "$@"; }`,
    ];
    const script = [...prelude, commandsOf('auditing.md')].join('\n');
    const { said, errors, code } = await bash(script, specFolder('auditing'));
    expect([code, errors]).toEqual([0, '']);
    expect(said).toMatch(/^confirmed +12\.5$/m);
    expect(said).toMatch(/^causes, from the last event back: \d+ ← \d+$/m);
    expect(said).toMatch(/^"hash":"0x[0-9a-f]{64}"$/m);
    expect(said).toContain('the node says the same: 12500000 to 0x');
    expect(said).toContain('1 payouts checked');
  });
});
