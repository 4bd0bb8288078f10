import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { axisTime } from './time.js';

interface ChartProps {
  /** What it says in words, for those who do not see it. */
  readonly label: string;
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  /** Null: a gap. */
  readonly values: readonly (number | null)[];
  readonly height?: number;
  /** Without axes. */
  readonly spark?: boolean;
}

/** One line over time, as wide as its place. */
export function Chart({ label, times, values, height = 160, spark = false }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(current, height, spark), [[...times], [...values]], current);
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
  useEffect(() => plot.current?.setData([[...times], [...values]]), [times, values]);
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
    values: (_, splits, __, ___, step) => splits.map((seconds) => axisTime(seconds, step)),
  };
  return {
    width: place.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    // One point alone has no width.
    scales: {
      x: { range: (_, from, to) => [Math.min(from, to - 60), to] },
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
    },
    axes: [times, { ...axis, size: 56 }],
    series: [{}, { stroke: colour('--accent'), width: 1.5, points: { show: false } }],
    ...(spark && { padding: [2, 0, 2, 0] as uPlot.Padding }),
  };
}
