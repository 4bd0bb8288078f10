import { describeExchangeProvider } from '../../test/conformance/exchange-provider.conformance.js';
import { ScanLab, SOLANA_ADDRESS } from '../../test/support/scan-lab.js';

describeExchangeProvider('the sandbox', async () => {
  const lab = await ScanLab.open();
  // One that scans; the others only ask.
  await lab.start();
  const setDown = (isDown: boolean): Promise<unknown> =>
    lab.db.database.query(
      isDown ? 'alter schema exchange rename to away' : 'alter schema away rename to exchange',
    );
  return {
    open: async () => (await lab.start({}, { isScanning: false })).provider,
    pairId: 'USDCSOL',
    withdrawAddress: SOLANA_ADDRESS,
    isSettledByUs: true,
    pay: async ({ depositAddress }, amount) => void (await lab.chain.transfer(depositAddress, amount)),
    goAway: async () => void (await setDown(true)),
    comeBack: async () => void (await setDown(false)),
    cleanUp: () => lab.close(),
  };
});
