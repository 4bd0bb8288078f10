// Preloaded by `node --import`. Shifts the process's clock by CHAOS_SKEW_MS.
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
