import { describeExchangeProvider } from '../../test/conformance/exchange-provider.conformance.js';
import { ADDRESS } from '../../test/support/exchange/order-fixtures.js';
import { SandboxExchangeHarness } from '../../test/support/exchange/sandbox-exchange-harness.js';

describeExchangeProvider('the sandbox', async () => {
  const harness = await SandboxExchangeHarness.start();
  return {
    open: async () => harness.open(),
    pairId: 'USDCSOL',
    withdrawAddress: ADDRESS,
    isSettledByUs: true,
    pay: async ({ deposit_address: to }, amount) => void (await harness.chain.transfer(to, amount)),
    startOutage: async () => {
      harness.node.goDown();
      await harness.db.database.query('alter schema exchange rename to unavailable');
    },
    endOutage: async () => {
      harness.node.comeBack();
      await harness.db.database.query('alter schema unavailable rename to exchange');
    },
    cleanUp: () => harness.close(),
  };
});
