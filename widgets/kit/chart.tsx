import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { axisRange, axisTime } from './time.js';

/** The steps between marks: whole numbers, because the values are counts. */
const WHOLE_STEPS = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((each) => each * 10 ** power),
).flat();

interface ChartProps {
  /** The description for screen readers. */
  readonly label: string;
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  /** The values; null is a gap. */
  readonly values: readonly (number | null)[];
  readonly height?: number;
  /** True for a chart without axes. */
  readonly spark?: boolean;
}

/** A line chart over time that fills its container. */
export function Chart({ label, times, values, height = 160, spark = false }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  // The plot also reads the data when it is redrawn, for example after a change of colours.
  const data = useRef<uPlot.AlignedData>([[], []]);
  data.current = [[...times], [...values]];
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(current, height, spark), data.current, current);
    };
    draw();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    const size = new ResizeObserver(() => plot.current?.setSize({ width: current.clientWidth, height }));
    size.observe(current);
    return () => {
      dark.removeEventListener('change', draw);
      size.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [height, spark]);
  useEffect(() => plot.current?.setData(data.current), [times, values]);
  return <div ref={place} class={spark ? 'chart spark' : 'chart'} role="img" aria-label={label} />;
}

function optionsOf(place: HTMLElement, height: number, spark: boolean): uPlot.Options {
  const style = getComputedStyle(place);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const grid = { stroke: colour('--faint'), width: 1 };
  const axis: uPlot.Axis = spark
    ? { show: false }
    : { stroke: colour('--soft'), grid, ticks: grid, font: '12px system-ui' };
  const times: uPlot.Axis = {
    ...axis,
    ...(!spark && { label: 'UTC', labelSize: 16, labelFont: '12px system-ui' }),
    values: (_, splits, __, ___, step) => splits.map((seconds) => axisTime(seconds, step)),
  };
  return {
    width: place.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      x: { range: ({ data: [times] }) => axisRange([...times], Date.now() / 1000) },
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
    },
    axes: [times, { ...axis, size: 56, incrs: [...WHOLE_STEPS] }],
    series: [
      {},
      { stroke: colour('--accent'), width: 1.5, points: { show: ({ data: [xs] }) => xs.length === 1 } },
    ],
    // The label of the last mark is centred on it, so it needs room on both sides.
    padding: spark ? [2, 0, 2, 0] : [8, 28, 0, 0],
  };
}
