//! External projects that `upcheck_external_project` of the CMake module looks at: whether the look would find anything.
//!
//! The build has a target for the look that runs every time. It is asked here what it asks, so that the rest of the build can
//! be fresh.

use crate::args::Common;
use crate::project::{options, trouble};
use crate::run::{Trouble, bytes_of};
use std::fs;
use std::path::Path;
use upcheck::Project;
use upcheck::collect::os_disk;
use upcheck::records::Records;

/// What stands for the look in the build.
pub(crate) const LOOK: &[u8] = b"CMakeFiles/upcheck_externals";
/// The directory of the triggers, from which the paths of the graph start.
const TRIGGERS: &str = "CMakeFiles/upcheck/externals";
const GRAPH: &str = "CMakeFiles/upcheck/externals.json";
/// The file that names the store of records.
const STORE: &str = "CMakeFiles/upcheck/externals.store";

/// Whether there are such projects, and nothing would be found. Where the files of the module are not what they should be,
/// the build is left to find that out.
pub(crate) fn are_fresh(common: &Common) -> Result<bool, Trouble> {
    let [triggers, graph, store] = [TRIGGERS, GRAPH, STORE].map(|name| common.directory.join(name));
    let (Ok(store), true) = (fs::read_to_string(&store), graph.exists()) else { return Ok(false) };
    let base =
        upcheck::os_path::canonicalize(&triggers).map_err(|error| trouble("finding", &triggers, &error))?;
    let disk = os_disk(&triggers).map_err(|error| trouble("opening", &triggers, &error))?;
    let mut project = Project::new();
    project.set_base(&bytes_of(base.into_os_string()));
    upcheck_graph::read_file(&graph, &mut project)?;
    let store = Path::new(store.trim_end_matches('\n'));
    // Without records nothing is fresh: the graph says by which policy it is to be judged.
    let records = Records::read(store).map_err(|error| trouble("reading the records in", store, &error))?;
    let requests = project.default_requests();
    Ok(project.check(&disk, records.as_ref(), &requests, options(common))?.is_fresh())
}
