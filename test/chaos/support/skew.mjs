// Preloaded into a process (node --import): its clock is off by CHAOS_SKEW_MS, as on a host that was set wrong.
const skewMs = Number(process.env['CHAOS_SKEW_MS']);
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + skewMs);
    else super(...args);
  }
  static now() {
    return RealDate.now() + skewMs;
  }
};
