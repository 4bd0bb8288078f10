import base from './.dependency-cruiser.mjs';

/** Rules of folders instead of files; specs, which reach for what they need, are left out. */
export default {
  forbidden: [
    {
      name: 'contexts-meet-one-way',
      comment: 'Of two contexts, however many lie between them, one knows the other; types count.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/contexts/[^/]+$' },
      to: { circular: true, path: '^src/contexts/[^/]+$' },
    },
  ],
  options: { ...base.options, exclude: { path: `${base.options.exclude.path}|^test/|\\.spec\\.ts$` } },
};
