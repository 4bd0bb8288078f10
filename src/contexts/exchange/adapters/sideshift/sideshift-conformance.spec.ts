import { describeExchangeProvider } from '../../../../../test/conformance/exchange-provider.conformance.js';
import { ADDRESS, SideShiftLab } from '../../../../../test/support/sideshift/lab.js';

describeExchangeProvider('SideShift', async () => {
  const lab = await SideShiftLab.start();
  const { sideshift } = lab;
  return {
    open: () => Promise.resolve(lab.process()),
    pairId: 'USDCSOL',
    withdrawAddress: ADDRESS,
    isSettledByUs: false,
    pay: ({ reference }, amount) => Promise.resolve(sideshift.pay(reference, amount)),
    startOutage: () => sideshift.shutDown(),
    endOutage: () => sideshift.restart(),
    cleanUp: () => lab.stop(),
  };
});
