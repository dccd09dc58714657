//! The walk: depth first from a requested file, inputs before users, each target once, without recursion.

use super::ladder::AnyReason;
use super::*;

#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) target: TargetId,
    /// The file through which the target was reached.
    through: FileId,
    entered: bool,
    segment: u8,
    next: u32,
    dirty: bool,
    certain: bool,
    ready: bool,
    /// Whether the content of an input that is made again decides.
    forgives: bool,
    /// Whether its inputs have no say: somebody else has judged it.
    is_given: bool,
    newest: Option<FileId>,
}

/// The runs of a target's inputs, in the order in which they are visited.
const SEGMENTS: u8 = 4;
const ORDER_ONLY: u8 = 3;

impl Decision<'_> {
    /// Judges what `file` needs, validations aside.
    ///
    /// # Errors
    /// When the walk cannot go on. What was judged before stays judged.
    pub fn visit(&mut self, file: FileId) -> Result<(), Stop> {
        let result = self.walk(file);
        // What ninja gave up on without a word stays marked there, and whoever comes by later takes it for a cycle.
        let stays_marked = matches!(result, Err(Stop::Silent));
        for frame in self.stack.drain(..).filter(|_| !stays_marked) {
            self.found.targets[frame.target.index()] &= !T_IN_STACK;
        }
        result
    }

    fn walk(&mut self, file: FileId) -> Result<(), Stop> {
        self.enter(file)?;
        while let Some(mut frame) = self.stack.pop() {
            let next = self.advance(&mut frame);
            if matches!(next, Ok(None)) {
                self.finish(frame);
                continue;
            }
            self.stack.push(frame);
            if let Some(input) = next? {
                self.enter(input)?;
            }
        }
        Ok(())
    }

    /// Settles a source, or puts the target that makes `file` on the stack.
    fn enter(&mut self, file: FileId) -> Result<(), Stop> {
        let Some(target) = self.producer(file) else {
            return self.settle_source(file);
        };
        let bits = &mut self.found.targets[target.index()];
        if *bits & T_IN_STACK != 0 {
            return Err(Stop::Cycle(self.cycle(target, file)));
        }
        if *bits & T_DONE != 0 {
            // An output that a dyndep file gave to a target which had been judged before.
            self.found.files[file.index()] |= F_SETTLED;
            return Ok(());
        }
        *bits = (*bits & !T_NOT_READY) | T_IN_STACK;
        self.stack.push(Frame {
            target,
            through: file,
            entered: false,
            segment: 0,
            next: 0,
            dirty: false,
            certain: false,
            ready: true,
            forgives: self.forgives(target),
            is_given: matches!(self.history.rule(target), Rule::Given { .. }),
            newest: None,
        });
        Ok(())
    }

    fn settle_source(&mut self, file: FileId) -> Result<(), Stop> {
        if self.found.files[file.index()] & F_SETTLED != 0 {
            return Ok(());
        }
        self.look_at(file)?;
        let bits = &mut self.found.files[file.index()];
        *bits |= F_SETTLED;
        if *bits & (F_MISSING | F_UNREADABLE) != 0 {
            *bits |= F_DIRTY | F_CERTAIN;
        }
        Ok(())
    }

    /// Stops at a path that ninja would stop at.
    fn look_at(&self, file: FileId) -> Result<(), Stop> {
        if self.mode == Mode::LookPast {
            return Ok(());
        }
        match self.snapshot.stat(file) {
            Stat::Unreadable(errno) => Err(Stop::Unreadable { path: file, errno }),
            Stat::Present(meta) if meta.mtime == super::SILENT => Err(Stop::Silent),
            _ => Ok(()),
        }
    }

    /// Goes on with a target. `Some(file)`: that file has to be judged first.
    fn advance(&mut self, frame: &mut Frame) -> Result<Option<FileId>, Stop> {
        let target = frame.target;
        if !frame.entered {
            if let Some(dyndep) = self.unloaded_dyndep(target) {
                if !self.is_settled(dyndep) {
                    return Ok(Some(dyndep));
                }
                if self.found.files[dyndep.index()] & F_NOT_READY == 0 {
                    self.load_dyndep(dyndep)?;
                }
            }
            for output in self.outputs(target) {
                self.look_at(output)?;
            }
            self.see_deps(frame)?;
            self.validations.extend_from_slice(self.graph.validations(target));
            frame.entered = true;
        }
        while frame.segment < SEGMENTS {
            let extra;
            let inputs = match frame.segment {
                0 => self.graph.dirtying_inputs(target),
                1 => match self.found.extra.get(&target) {
                    Some(found) => {
                        extra = found.inputs.clone();
                        &*extra
                    }
                    None => &[],
                },
                2 if self.found.targets[target.index()] & T_DEPS_BELIEVED != 0 => {
                    self.history.discovered_inputs(target)
                }
                ORDER_ONLY => self.graph.order_only_inputs(target),
                _ => &[],
            };
            while let Some(&input) = inputs.get(frame.next as usize) {
                let bits = self.found.files[input.index()];
                if bits & F_SETTLED == 0 {
                    return Ok(Some(input));
                }
                frame.next += 1;
                frame.ready &= bits & F_NOT_READY == 0;
                if frame.segment == ORDER_ONLY || frame.is_given {
                    continue;
                }
                if bits & F_DIRTY != 0 {
                    frame.dirty = true;
                    // What is made again may come out as it was.
                    let open = frame.forgives && self.producer(input).is_some();
                    frame.certain |= bits & F_CERTAIN != 0 && !open;
                } else {
                    self.keep_newest(&mut frame.newest, input);
                }
            }
            frame.segment += 1;
            frame.next = 0;
        }
        Ok(None)
    }

    /// Decides whether the discovered inputs of a target are believed. Once per target.
    fn see_deps(&mut self, frame: &mut Frame) -> Result<(), Stop> {
        let target = frame.target;
        if self.found.targets[target.index()] & T_DEPS_SEEN != 0 {
            return Ok(());
        }
        self.found.targets[target.index()] |= T_DEPS_SEEN;
        if let Discovered::Unknown(Unknown::Broken { message }) = self.history.discovered(target)
            && self.mode == Mode::AsNinja
        {
            return Err(Stop::Broken(message.clone()));
        }
        let mut any = AnyReason(false);
        self.judge_deps(target, &mut any);
        if any.0 {
            frame.dirty = true;
            frame.certain = true;
        } else {
            for &input in self.history.discovered_inputs(target) {
                self.found.files[input.index()] |= F_DISCOVERED;
            }
            self.found.targets[target.index()] |= T_DEPS_BELIEVED;
        }
        Ok(())
    }

    fn finish(&mut self, frame: Frame) {
        let Frame { target, mut dirty, mut certain, mut ready, .. } = frame;
        if !certain {
            let mut any = AnyReason(false);
            self.judge_outputs(target, frame.newest, &mut any);
            if any.0 {
                (dirty, certain) = (true, true);
            }
        }
        let phony = self.graph.flags(target).phony;
        if phony
            && !dirty
            && let Some(newest) = frame.newest
        {
            self.lend_time(target, self.found.times[newest.index()]);
        }
        if let Some(reason) = self.dyndep_reason(target) {
            dirty = true;
            certain |= matches!(reason, Reason::DyndepBroken { .. });
        }
        let has_inputs = self.inputs(target).next().is_some();
        if dirty && (has_inputs || !phony) {
            ready = false;
        }
        // A stale target with restat may leave its outputs as they are: whether its users have to run is open, unless
        // somebody else knows. For ninja a phony target has no outputs that it could leave.
        let rule = self.history.rule(target);
        let open = self.has_restat(target) && !(phony && rule == Rule::Ninja);
        let passes_on = certain && (!open || rule == Rule::Given { changes: true });
        let mut bits = F_SETTLED;
        if dirty {
            bits |= F_DIRTY;
        }
        if passes_on {
            bits |= F_CERTAIN;
        }
        if !ready {
            bits |= F_NOT_READY;
        }
        self.each_output(target, |decision, output| {
            let file = &mut decision.found.files[output.index()];
            // Dirty stays dirty when a target is judged again, as it does in ninja.
            *file = (*file & !F_NOT_READY) | bits;
        });
        let target_bits = &mut self.found.targets[target.index()];
        *target_bits = (*target_bits & !T_IN_STACK) | T_DONE;
        if dirty {
            *target_bits |= T_DIRTY;
        }
        if certain {
            *target_bits |= T_CERTAIN;
        }
        if !ready {
            *target_bits |= T_NOT_READY;
        }
        self.found.order.push(target);
    }

    /// A phony name without a file counts as being as new as its newest input.
    fn lend_time(&mut self, target: TargetId, time: Mtime) {
        self.each_output(target, |decision, output| {
            if decision.found.files[output.index()] & F_MISSING != 0 {
                let own = &mut decision.found.times[output.index()];
                *own = (*own).max(time);
            }
        });
    }

    fn cycle(&self, target: TargetId, file: FileId) -> Vec<FileId> {
        let Some(start) = self.stack.iter().position(|frame| frame.target == target) else {
            // Left behind by a walk that ended silently. That is all that ninja says, too.
            return vec![file];
        };
        let mut files: Vec<_> = self.stack[start..].iter().map(|frame| frame.through).collect();
        if let Some(first) = files.first_mut() {
            *first = file;
        }
        files.push(file);
        files
    }
}
