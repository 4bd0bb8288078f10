import { describeExchangeProvider } from '../../test/conformance/exchange-provider.conformance.js';
import { SandboxExchangeLab, SOLANA_ADDRESS } from '../../test/support/sandbox-exchange-lab.js';

describeExchangeProvider('the sandbox', async () => {
  const lab = await SandboxExchangeLab.start();
  return {
    open: async () => lab.open(),
    pairId: 'USDCSOL',
    withdrawAddress: SOLANA_ADDRESS,
    isSettledByUs: true,
    pay: async ({ depositAddress }, amount) => void (await lab.chain.transfer(depositAddress, amount)),
    startOutage: async () => {
      lab.node.goDown();
      await lab.db.database.query('alter schema exchange rename to unavailable');
    },
    endOutage: async () => {
      lab.node.comeBack();
      await lab.db.database.query('alter schema unavailable rename to exchange');
    },
    cleanUp: () => lab.close(),
  };
});
