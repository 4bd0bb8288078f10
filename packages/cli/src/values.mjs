// Values of options, as commander parses them.
import { InvalidArgumentError } from 'commander';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export function wholeNumber(least, most) {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** Milliseconds of `500ms`, `30s`, `5m` or `1h`. */
export function duration(text) {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  if (unit === undefined)
    throw new InvalidArgumentError('It must be a duration such as 500ms, 30s, 5m or 1h.');
  return Number(count) * UNITS[unit];
}
