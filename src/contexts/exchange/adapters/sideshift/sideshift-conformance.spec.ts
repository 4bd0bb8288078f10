import { describeExchangeProvider } from '../../../../../test/conformance/exchange-provider.conformance.js';
import {
  ADDRESS,
  SideShiftHarness,
} from '../../../../../test/support/exchange/sideshift/sideshift-harness.js';

describeExchangeProvider('SideShift', async () => {
  const harness = await SideShiftHarness.start();
  const { sideshift } = harness;
  return {
    open: () => Promise.resolve(harness.process()),
    pairId: 'USDCSOL',
    withdrawAddress: ADDRESS,
    isSettledByUs: false,
    pay: ({ provider_reference: shiftId }, amount) => Promise.resolve(sideshift.pay(shiftId, amount)),
    startOutage: () => sideshift.shutDown(),
    endOutage: () => sideshift.restart(),
    cleanUp: () => harness.stop(),
  };
});
